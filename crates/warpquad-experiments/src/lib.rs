//! Reproduce the experiments of Chai and Garnett (2019): every table and figure, by name.
