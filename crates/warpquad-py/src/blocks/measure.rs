//! Measures from Python: the priors of the registry, their products, a joint normal and a sample.

use super::convert::{Matrix, Numbers, Reduced, Vector, flat, points, rows, vector};
use crate::error::{detached, raise};
use numpy::PyArrayMethods;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::sync::Arc;
use warpquad::functional::Nodes as CoreNodes;
use warpquad::measure::{self as core, Empirical, Gaussian, Product, univariate};

/// A probability measure pi on R^d: what is integrated against. Made by `measure`.
///
/// `*` makes products of independent coordinates and `**` powers.
///
/// >>> import warpquad as wq
/// >>> box = wq.measure("uniform", -5, 5) * wq.measure("normal", 0, 1)
/// >>> box.dim
/// 2
/// >>> (wq.measure("uniform", 0, 1) ** 3).mean
/// array([0.5, 0.5, 0.5])
#[pyclass(frozen, from_py_object, module = "warpquad")]
#[derive(Clone)]
pub struct Measure {
    pub inner: Arc<dyn core::Measure>,
    recipe: Arc<Recipe>,
}

/// How a measure was made: what a pickle keeps.
enum Recipe {
    Product(Vec<(String, Vec<f64>)>),
    Gaussian(Vec<f64>, Vec<f64>),
    Empirical(warpquad::Points),
}

impl Measure {
    fn product(laws: Vec<(String, Vec<f64>)>) -> warpquad::Result<Measure> {
        let built = laws.iter().map(|(name, numbers)| univariate(name, numbers));
        let inner = Arc::new(Product::new(built.collect::<warpquad::Result<_>>()?)?);
        let recipe = Arc::new(Recipe::Product(laws));
        Ok(Measure { inner, recipe })
    }

    fn laws(&self) -> PyResult<&[(String, Vec<f64>)]> {
        match self.recipe.as_ref() {
            Recipe::Product(laws) => Ok(laws),
            _ => Err(PyTypeError::new_err(
                "only one-dimensional priors and their products can be multiplied",
            )),
        }
    }
}

#[pymethods]
#[allow(non_snake_case)] // X is what Python calls a matrix of inputs
impl Measure {
    /// The dimension d.
    #[getter]
    fn dim(&self) -> usize {
        self.inner.dim()
    }

    /// The mean; None where it does not exist.
    #[getter]
    fn mean<'py>(&self, py: Python<'py>) -> Option<Vector<'py>> {
        self.inner.mean().map(|mean| vector(py, mean))
    }

    /// The covariance, (d, d); None where it does not exist.
    #[getter]
    fn cov<'py>(&self, py: Python<'py>) -> PyResult<Option<Matrix<'py>>> {
        let d = self.inner.dim();
        self.inner
            .covariance()
            .map(|cov| vector(py, cov).reshape([d, d]))
            .transpose()
    }

    /// The smallest box that carries the mass, an interval a dimension.
    #[getter]
    fn support(&self) -> Vec<(f64, f64)> {
        self.inner.support()
    }

    /// A typical length of each coordinate.
    #[getter]
    fn scale<'py>(&self, py: Python<'py>) -> Vector<'py> {
        vector(py, self.inner.scale())
    }

    /// Map rows of the unit cube to rows of R^d, so that uniform points become draws from pi.
    fn quantile<'py>(&self, U: Numbers<'py>) -> PyResult<Matrix<'py>> {
        let (py, d) = (U.py(), self.inner.dim());
        let u = self.points("U", &U)?;
        let mut x = vec![0.0; u.len() * d];
        for (u, x) in u.iter().zip(x.chunks_exact_mut(d)) {
            self.inner.quantile(u, x);
        }
        vector(py, x).reshape([u.len(), d])
    }

    /// The log density at each row of X; -inf outside the support.
    fn log_density<'py>(&self, X: Numbers<'py>) -> PyResult<Vector<'py>> {
        let x = self.points("X", &X)?;
        Ok(vector(
            X.py(),
            x.iter().map(|x| self.inner.ln_density(x)).collect(),
        ))
    }

    /// n nodes, scrambled Sobol' points through the quantile map: the integral of f is about the
    /// sum of weights times f.
    ///
    /// >>> import warpquad as wq
    /// >>> nodes = wq.measure("normal", 1, 2).nodes(1024)
    /// >>> round(float(nodes.weights @ nodes.X[:, 0] ** 2), 1)      # mean^2 + sd^2
    /// 5.0
    #[pyo3(signature = (n = 4096, seed = 0))]
    fn nodes(&self, py: Python<'_>, n: usize, seed: u64) -> PyResult<Nodes> {
        let inner = detached(py, || CoreNodes::sobol(self.inner.as_ref(), n, seed))?;
        Ok(Nodes { inner })
    }

    fn __mul__(&self, py: Python<'_>, other: &Measure) -> PyResult<Measure> {
        let laws = [self.laws()?, other.laws()?].concat();
        Measure::product(laws).map_err(|error| raise(py, &error))
    }

    fn __pow__(&self, py: Python<'_>, power: usize, _modulo: Option<usize>) -> PyResult<Measure> {
        let laws = self.laws()?;
        let repeated = laws.iter().cloned().cycle().take(power * laws.len());
        Measure::product(repeated.collect()).map_err(|error| raise(py, &error))
    }

    fn __repr__(&self) -> String {
        let law = |(name, numbers): &(String, Vec<f64>)| format!("{name}{numbers:?}");
        let text = match self.recipe.as_ref() {
            Recipe::Product(laws) => laws.iter().map(law).collect::<Vec<_>>().join(" * "),
            Recipe::Gaussian(mean, _) => format!("gaussian in {} dimensions", mean.len()),
            Recipe::Empirical(points) => format!("empirical, {} points", points.len()),
        };
        format!("<warpquad.Measure {text}>")
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> Reduced<'py, Bound<'py, PyAny>> {
        let core = py.import("warpquad._core")?;
        match self.recipe.as_ref() {
            Recipe::Product(laws) => {
                let state = (laws.clone(),).into_pyobject(py)?.into_any();
                Ok((core.getattr("_product")?, state))
            }
            Recipe::Gaussian(mean, cov) => {
                let d = mean.len();
                let cov = vector(py, cov.clone()).reshape([d, d])?;
                let state = ("gaussian", vector(py, mean.clone()), cov);
                Ok((
                    core.getattr("measure")?,
                    state.into_pyobject(py)?.into_any(),
                ))
            }
            Recipe::Empirical(points) => {
                let state = ("empirical", rows(py, points)?);
                Ok((
                    core.getattr("measure")?,
                    state.into_pyobject(py)?.into_any(),
                ))
            }
        }
    }
}

impl Measure {
    /// Rows of this measure's dimension.
    fn points(&self, name: &str, x: &Numbers<'_>) -> PyResult<warpquad::Points> {
        let x_points = points(name, x)?;
        if x_points.dim() == self.inner.dim() {
            return Ok(x_points);
        }
        let reason = format!(
            "has {} columns, the measure {} dimensions",
            x_points.dim(),
            self.inner.dim()
        );
        Err(raise(x.py(), &warpquad::Error::spec(name, reason)))
    }
}

/// Weighted points that stand for a measure. Made by `Measure.nodes`.
///
/// >>> import warpquad as wq
/// >>> nodes = wq.measure("uniform", 0, 2).nodes(256)
/// >>> nodes.X.shape, round(float(nodes.weights.sum()), 6)
/// ((256, 1), 1.0)
#[pyclass(frozen, from_py_object, module = "warpquad")]
#[derive(Clone)]
pub struct Nodes {
    pub inner: CoreNodes,
}

#[pymethods]
#[allow(non_snake_case)]
impl Nodes {
    /// Where, (n, d).
    #[getter]
    fn X<'py>(&self, py: Python<'py>) -> PyResult<Matrix<'py>> {
        rows(py, &self.inner.points)
    }

    /// The weights; they sum to about 1.
    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> Vector<'py> {
        vector(py, self.inner.ln_weights.iter().map(|w| w.exp()).collect())
    }

    /// ln of the weights.
    #[getter]
    fn log_weights<'py>(&self, py: Python<'py>) -> Vector<'py> {
        vector(py, self.inner.ln_weights.clone())
    }

    /// How many independent runs the nodes come in, one after another: their spread is the node
    /// error.
    #[getter]
    fn replicates(&self) -> usize {
        self.inner.replicates
    }

    fn __len__(&self) -> usize {
        self.inner.points.len()
    }

    fn __repr__(&self) -> String {
        format!("<warpquad.Nodes, {} points>", self.inner.points.len())
    }
}

/// A measure: `measure(name, *numbers)` with a name from `measures`,
/// `measure("gaussian", mean, cov)` with a full covariance, or `measure("empirical", X)` with mass
/// 1/n on each row.
///
/// >>> import warpquad as wq
/// >>> wq.measure("uniform", -5, 5)
/// <warpquad.Measure uniform[-5.0, 5.0]>
/// >>> wq.measure("gaussian", [0, 0], [[2, 1], [1, 2]]).dim
/// 2
#[pyfunction]
#[pyo3(signature = (name, *arguments))]
fn measure(py: Python<'_>, name: String, arguments: &Bound<'_, PyTuple>) -> PyResult<Measure> {
    let made = match name.as_str() {
        "gaussian" => {
            let (mean, cov): (Numbers<'_>, Numbers<'_>) = arguments.extract()?;
            let (mean, cov) = (flat(&mean), flat(&cov));
            Gaussian::new(mean.clone(), cov.clone()).map(|law| Measure {
                inner: Arc::new(law),
                recipe: Arc::new(Recipe::Gaussian(mean, cov)),
            })
        }
        "empirical" => {
            let (sample,): (Numbers<'_>,) = arguments.extract()?;
            let sample = points("X", &sample)?;
            Empirical::new(sample.clone()).map(|law| Measure {
                inner: Arc::new(law),
                recipe: Arc::new(Recipe::Empirical(sample)),
            })
        }
        _ => {
            let numbers = arguments.iter().map(|x| x.extract::<f64>());
            Measure::product(vec![(name, numbers.collect::<PyResult<_>>()?)])
        }
    };
    made.map_err(|error| raise(py, &error))
}

/// The one-dimensional priors there are, each with the names of its numbers.
///
/// >>> import warpquad as wq
/// >>> wq.measures()["normal"]
/// ['mean', 'sd']
#[pyfunction]
fn measures(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let out = PyDict::new(py);
    for entry in core::REGISTRY {
        out.set_item(entry.name, entry.parameters.to_vec())?;
    }
    Ok(out)
}

/// The product of a pickle.
#[pyfunction]
fn _product(py: Python<'_>, laws: Vec<(String, Vec<f64>)>) -> PyResult<Measure> {
    Measure::product(laws).map_err(|error| raise(py, &error))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Measure>()?;
    module.add_class::<Nodes>()?;
    module.add_function(wrap_pyfunction!(measure, module)?)?;
    module.add_function(wrap_pyfunction!(measures, module)?)?;
    module.add_function(wrap_pyfunction!(_product, module)?)
}
