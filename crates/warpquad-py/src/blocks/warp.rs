//! Warps from Python: by name, onto a range, in other units, or from a table of a user's own xi.

use super::convert::{Numbers, Reduced, Vector, flat, vector};
use crate::error::raise;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;
use warpquad::warp::{self as core, Affine, Marginal, Numeric, Range, Table};

/// A warp xi: f = xi(g) keeps f in its range, and the moments of xi(g) are known for a normal g.
///
/// Made by `warp`, `warp_from` and `Data.warp`.
///
/// >>> import warpquad as wq
/// >>> rate = wq.warp("probit", range=(2, 5))
/// >>> rate.forward([0.0])
/// array([3.5])
/// >>> rate.range
/// (2.0, 5.0)
#[pyclass(frozen, from_py_object, module = "warpquad")]
#[derive(Clone)]
pub struct Warp {
    pub inner: Arc<dyn core::Warp>,
    recipe: Arc<Recipe>,
}

/// How a warp was made: what a pickle keeps.
enum Recipe {
    Named(String, Vec<f64>),
    Table(Vec<f64>),
    Range(Option<Warp>, Vec<f64>),
    Scaled(Warp, f64),
}

/// A warp or its name.
#[derive(FromPyObject)]
pub enum WarpLike {
    Warp(Warp),
    Name(String),
}

impl WarpLike {
    pub fn get(self) -> warpquad::Result<Warp> {
        match self {
            WarpLike::Warp(warp) => Ok(warp),
            WarpLike::Name(name) => Warp::named(name, vec![]),
        }
    }
}

impl Warp {
    fn named(name: String, numbers: Vec<f64>) -> warpquad::Result<Warp> {
        let inner: Arc<dyn core::Warp> = match (name.as_str(), &numbers[..]) {
            (_, []) => core::by_name(&name)?,
            ("square", &[alpha]) => Arc::new(core::Square::new(alpha)?),
            ("gumbel", &[tau]) => Arc::new(core::Gumbel::new(tau)?),
            ("polynomial", _) => Arc::new(core::Polynomial::new(numbers.clone())?),
            _ => {
                let reason = format!("the {name} warp takes no parameters");
                return Err(warpquad::Error::spec("parameters", reason));
            }
        };
        let recipe = Arc::new(Recipe::Named(name, numbers));
        Ok(Warp { inner, recipe })
    }

    /// The warp onto a range; without a warp the range chooses: identity, log or probit.
    fn onto(warp: Option<Warp>, lo: f64, hi: f64) -> warpquad::Result<Warp> {
        let affine = match &warp {
            None => Affine::onto(lo, hi)?,
            Some(warp) => Affine::between(warp.inner.clone(), Range { lo, hi })?,
        };
        let recipe = Arc::new(Recipe::Range(warp, vec![lo, hi]));
        let inner = Arc::new(affine);
        Ok(Warp { inner, recipe })
    }

    /// The warp in units of exp(ln_scale).
    pub fn scaled(self, ln_scale: f64) -> warpquad::Result<Warp> {
        let inner = Arc::new(Affine::scaled(self.inner.clone(), ln_scale)?);
        let recipe = Arc::new(Recipe::Scaled(self, ln_scale));
        Ok(Warp { inner, recipe })
    }

    /// A table on [lo, hi] of a xi onto a range: the four ends, then the values.
    fn table(numbers: Vec<f64>) -> warpquad::Result<Warp> {
        let &[lo, hi, from, to, ..] = &numbers[..] else {
            return Err(warpquad::Error::spec("table", "needs four ends and values"));
        };
        let table = Table::new(Range { lo, hi }, from, to, numbers[4..].to_vec())?;
        let inner = Arc::new(Numeric::tabulated(table));
        let recipe = Arc::new(Recipe::Table(numbers));
        Ok(Warp { inner, recipe })
    }

    fn rebuild(
        kind: &str,
        name: String,
        numbers: Vec<f64>,
        inner: Option<Warp>,
    ) -> warpquad::Result<Warp> {
        match (kind, inner, &numbers[..]) {
            ("named", None, _) => Warp::named(name, numbers),
            ("table", None, _) => Warp::table(numbers),
            ("range", inner, &[lo, hi]) => Warp::onto(inner, lo, hi),
            ("scaled", Some(inner), &[ln_scale]) => inner.scaled(ln_scale),
            _ => Err(warpquad::Error::spec("warp", format!("no recipe '{kind}'"))),
        }
    }

    fn map<'py>(&self, x: &Numbers<'py>, f: impl Fn(&dyn core::Warp, f64) -> f64) -> Vector<'py> {
        let values = x
            .as_array()
            .iter()
            .map(|&x| f(self.inner.as_ref(), x))
            .collect();
        vector(x.py(), values)
    }
}

#[pymethods]
impl Warp {
    /// The name in the registry.
    #[getter]
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    /// The open interval that f lies in.
    #[getter]
    fn range(&self) -> (f64, f64) {
        let Range { lo, hi } = self.inner.range();
        (lo, hi)
    }

    /// xi(g).
    fn forward<'py>(&self, g: Numbers<'py>) -> Vector<'py> {
        self.map(&g, |warp, g| warp.forward(g))
    }

    /// ln xi(g), which does not underflow where xi(g) does; NaN where xi(g) is negative.
    fn log_forward<'py>(&self, g: Numbers<'py>) -> Vector<'py> {
        self.map(&g, |warp, g| warp.ln_forward(g))
    }

    /// ln |xi'(g)|.
    fn log_slope<'py>(&self, g: Numbers<'py>) -> Vector<'py> {
        self.map(&g, |warp, g| {
            let local = warp.local(g);
            local.ln_unit + local.slope.abs().ln()
        })
    }

    /// xi^-1(f): NaN outside the range, possibly infinite at its ends.
    fn inverse<'py>(&self, f: Numbers<'py>) -> Vector<'py> {
        self.map(&f, |warp, f| warp.inverse(f))
    }

    /// xi^-1(exp(log_f)).
    fn log_inverse<'py>(&self, log_f: Numbers<'py>) -> Vector<'py> {
        self.map(&log_f, |warp, ln_f| warp.inverse_ln(ln_f))
    }

    /// The mean of f = xi(g) for normal g with means mu and variances s.
    ///
    /// >>> import warpquad as wq
    /// >>> float(wq.warp("square").mean([3.0], [2.0])[0])    # mu^2 + s
    /// 11.0
    fn mean<'py>(&self, mu: Numbers<'py>, s: Numbers<'py>) -> PyResult<Vector<'py>> {
        let (py, moments) = (mu.py(), self.pairs(&[&mu, &s])?);
        let offset = self.inner.offset();
        let of = |row: &[f64]| {
            let mean = self.inner.mean(Marginal {
                mu: row[0],
                s: row[1],
            });
            offset + mean.ln_unit.exp() * mean.value
        };
        Ok(vector(py, moments.chunks_exact(2).map(of).collect()))
    }

    /// The ln of the variance of f = xi(g) for normal g with means mu and variances s.
    fn log_var<'py>(&self, mu: Numbers<'py>, s: Numbers<'py>) -> PyResult<Vector<'py>> {
        let (py, moments) = (mu.py(), self.pairs(&[&mu, &s])?);
        let of = |row: &[f64]| {
            self.inner
                .ln_var(Marginal {
                    mu: row[0],
                    s: row[1],
                })
                .value
        };
        Ok(vector(py, moments.chunks_exact(2).map(of).collect()))
    }

    /// Both moments of xi(g), xi(g') and their partial derivatives, for jointly normal g, g' with
    /// means mu, mu2, variances s, s2 and covariance c. It is a dict of arrays named as in the
    /// oracle tables, with log_m and log_abs_K for what underflows.
    ///
    /// >>> import warpquad as wq
    /// >>> got = wq.warp("log").moments([-2000.0], [2.0], [-2000.0], [2.0], [2.0])
    /// >>> float(got["log_m"][0]), float(got["m"][0])
    /// (-1999.0, 0.0)
    fn moments<'py>(
        &self,
        mu: Numbers<'py>,
        s: Numbers<'py>,
        mu2: Numbers<'py>,
        s2: Numbers<'py>,
        c: Numbers<'py>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let py = mu.py();
        let rows = self.pairs(&[&mu, &s, &mu2, &s2, &c])?;
        let mut columns: [Vec<f64>; NAMES.len()] = Default::default();
        for row in rows.chunks_exact(5) {
            let (left, right) = (
                Marginal {
                    mu: row[0],
                    s: row[1],
                },
                Marginal {
                    mu: row[2],
                    s: row[3],
                },
            );
            for (column, value) in
                columns
                    .iter_mut()
                    .zip(moments(self.inner.as_ref(), left, right, row[4]))
            {
                column.push(value);
            }
        }
        let out = PyDict::new(py);
        for (name, column) in NAMES.iter().zip(columns) {
            out.set_item(name, vector(py, column))?;
        }
        Ok(out)
    }

    fn __repr__(&self) -> String {
        let Range { lo, hi } = self.inner.range();
        format!("<warpquad.Warp {} onto ({lo}, {hi})>", self.inner.name())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> Reduced<'py, State> {
        let state = match self.recipe.as_ref() {
            Recipe::Named(name, numbers) => ("named", name.clone(), numbers.clone(), None),
            Recipe::Table(numbers) => ("table", String::new(), numbers.clone(), None),
            Recipe::Range(inner, ends) => ("range", String::new(), ends.clone(), inner.clone()),
            Recipe::Scaled(inner, ln_scale) => (
                "scaled",
                String::new(),
                vec![*ln_scale],
                Some(inner.clone()),
            ),
        };
        Ok((py.import("warpquad._core")?.getattr("_warp")?, state))
    }
}

/// What `_warp` is given again.
type State = (&'static str, String, Vec<f64>, Option<Warp>);

impl Warp {
    /// Columns of equal length, interleaved.
    fn pairs(&self, columns: &[&Numbers<'_>]) -> PyResult<Vec<f64>> {
        let columns: Vec<Vec<f64>> = columns.iter().map(|c| flat(c)).collect();
        if columns.iter().any(|c| c.len() != columns[0].len()) {
            let lengths: Vec<usize> = columns.iter().map(Vec::len).collect();
            let text = format!("arrays of one length are needed, got lengths {lengths:?}");
            return Err(pyo3::exceptions::PyValueError::new_err(text));
        }
        Ok((0..columns[0].len())
            .flat_map(|i| columns.iter().map(move |c| c[i]))
            .collect())
    }
}

const NAMES: [&str; 11] = [
    "m",
    "dm_dmu",
    "dm_ds",
    "K",
    "dK_dc",
    "dK_dmu",
    "dK_dmu2",
    "dK_ds",
    "dK_ds2",
    "log_m",
    "log_abs_K",
];

/// One row of [`Warp::moments`], out of units.
fn moments(warp: &dyn core::Warp, left: Marginal, right: Marginal, c: f64) -> [f64; NAMES.len()] {
    let (mean, mean2) = (warp.mean(left), warp.mean(right));
    let mut features = [
        vec![0.0; warp.feature_count()],
        vec![0.0; warp.feature_count()],
    ];
    warp.features(left, &mut features[0]);
    warp.features(right, &mut features[1]);
    let cov = warp.cov_partials(&features[0], &features[1], c);
    let unit = mean.ln_unit.exp();
    let units = (mean.ln_unit + mean2.ln_unit).exp();
    let k = units * cov.value;
    let m = warp.offset() + unit * mean.value;
    let ln_m = match warp.offset() {
        0.0 => mean.ln_unit + mean.value.ln(),
        _ => m.ln(),
    };
    [
        m,
        unit * (mean.d_mu + mean.value * mean.ln_unit_mu),
        unit * (mean.d_s + mean.value * mean.ln_unit_s),
        k,
        units * cov.d_c,
        units * cov.d_mu + k * mean.ln_unit_mu,
        units * cov.d_mu2 + k * mean2.ln_unit_mu,
        units * cov.d_s + k * mean.ln_unit_s,
        units * cov.d_s2 + k * mean2.ln_unit_s,
        ln_m,
        mean.ln_unit + mean2.ln_unit + cov.value.abs().ln(),
    ]
}

/// The warp of that name from the registry (see `warps`). Without a name, it is the one that a
/// range calls for: identity for the whole line, log for half of it, probit for an interval. With a
/// range a named warp is shifted, scaled or flipped onto it.
///
/// Parameters: `alpha` of square, `tau` of gumbel, `coefficients` of polynomial (ascending).
///
/// >>> import warpquad as wq
/// >>> wq.warp("log")
/// <warpquad.Warp log onto (0, inf)>
/// >>> wq.warp(range=(0, 1)).name
/// 'probit'
/// >>> wq.warp("square", alpha=0.25).forward([2.0])
/// array([4.25])
#[pyfunction]
#[pyo3(signature = (name = None, *, range = None, alpha = None, tau = None, coefficients = None))]
fn warp(
    py: Python<'_>,
    name: Option<String>,
    range: Option<(f64, f64)>,
    alpha: Option<f64>,
    tau: Option<f64>,
    coefficients: Option<Vec<f64>>,
) -> PyResult<Warp> {
    let given = [
        ("square", alpha.map(|a| vec![a])),
        ("gumbel", tau.map(|t| vec![t])),
        ("polynomial", coefficients),
    ];
    let mut numbers = Vec::new();
    for (owner, value) in given {
        let Some(value) = value else { continue };
        if name.as_deref() != Some(owner) {
            return Err(PyTypeError::new_err(format!(
                "only the {owner} warp takes that parameter"
            )));
        }
        numbers = value;
    }
    let made = match (name, range) {
        (None, None) => return Err(PyTypeError::new_err("warp() needs a name, a range or both")),
        (None, Some((lo, hi))) => Warp::onto(None, lo, hi),
        (Some(name), None) => Warp::named(name, numbers),
        (Some(name), Some((lo, hi))) => {
            Warp::named(name, numbers).and_then(|warp| Warp::onto(Some(warp), lo, hi))
        }
    };
    made.map_err(|error| raise(py, &error))
}

/// The warps there are, each with what it is for.
///
/// >>> import warpquad as wq
/// >>> wq.warps()["probit"]
/// 'f = Phi(g): between 0 and 1'
#[pyfunction]
fn warps(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let out = PyDict::new(py);
    for entry in core::REGISTRY {
        out.set_item(entry.name, entry.summary)?;
    }
    Ok(out)
}

/// The warp of a recipe; pickles call it.
#[pyfunction]
fn _warp(
    py: Python<'_>,
    kind: &str,
    name: String,
    numbers: Vec<f64>,
    inner: Option<Warp>,
) -> PyResult<Warp> {
    Warp::rebuild(kind, name, numbers, inner).map_err(|error| raise(py, &error))
}

/// Where a user's xi has to be evaluated for a table on [lo, hi].
#[pyfunction]
fn _table_nodes(py: Python<'_>, lo: f64, hi: f64) -> PyResult<Vector<'_>> {
    let nodes = Table::nodes(lo, hi).map_err(|error| raise(py, &error))?;
    Ok(vector(py, nodes))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Warp>()?;
    module.add_function(wrap_pyfunction!(warp, module)?)?;
    module.add_function(wrap_pyfunction!(warps, module)?)?;
    module.add_function(wrap_pyfunction!(_warp, module)?)?;
    module.add_function(wrap_pyfunction!(_table_nodes, module)?)
}
