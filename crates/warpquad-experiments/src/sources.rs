//! Say where the data come from.

/// A set of data files and where to get them.
#[derive(Debug)]
pub struct Source {
    /// The folder inside the data's folder.
    pub folder: &'static str,
    /// Where its files come from, as a sentence.
    pub origin: &'static str,
}

impl Source {
    /// What to do about a missing file.
    pub fn advice(&self, file: &str) -> String {
        format!("{}/{file} is needed: {}", self.folder, self.origin)
    }
}

/// The grids of machine-learning runs that Table 2 is about.
pub static HPOLIB: Source = Source {
    folder: "hpolib",
    origin: "make it from the array literals of HPOlib/benchmarks/lda_on_grid.py, svm_on_grid.py \
             and logreg_on_grid.py \
             in github.com/automl/HPOlib at commit 934a377b1c446cf8609c3c4d12a8e9b8f204f0f4, one \
             row a setting with the \
             columns that docs/guide/reproducing-the-paper.md lists",
};

/// The quasar spectra and the model of figures 1 and 4 and tables 3 and 4.
pub static DLA: Source = Source {
    folder: "dla",
    origin: "the spectra are those of igmhub/picca's test data at commit \
             b42813866e59f5c02796110819f5034e4127f68e, the learned model is \
             that of jibanCat/gp_dr12_trained at commit b9f222f7bf69ff1330ef8eab8b3e34f8f26d0e7e, \
             both on GitHub; write them as CSV files with the \
             columns that docs/guide/reproducing-the-paper.md lists",
};
