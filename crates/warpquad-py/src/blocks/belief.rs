//! Steps 3 and 4 from Python: process, posterior process and warped belief give a mean, a variance
//! and a covariance anywhere.

use super::convert::{Matrix, Numbers, Reduced, Vector, matrix, points, vector};
use super::kernel::Kernel;
use super::warp::Warp;
use crate::error::detached;
use pyo3::prelude::*;
use std::sync::Arc;
use warpquad::belief::Moments;
use warpquad::{Belief as Core, Linearised, PosteriorProcess, Warped};

/// A Gaussian belief about a function: the mean, the variance and the covariance anywhere.
///
/// `GP` and `Posterior` are beliefs about g; `GP.warp` and `Posterior.warp` give one about f =
/// xi(g).
///
/// >>> import warpquad as wq
/// >>> gp = wq.GP("matern32", mean=1.0, output_scale=2.0, length_scales=[1.0])
/// >>> f = gp.warp("log")
/// >>> f.log_mean([0.0])     # mu + s/2
/// array([2.])
#[pyclass(frozen, subclass, module = "warpquad")]
pub struct Belief {
    kind: Kind,
    kernel: Kernel,
}

/// The three beliefs that Python meets; a process is a posterior process without data.
#[derive(Clone)]
pub enum Kind {
    Latent(Arc<PosteriorProcess>),
    Matched(Arc<PosteriorProcess>, Warp),
    Linearised(Arc<PosteriorProcess>, Warp),
}

impl Kind {
    /// Use it as the core's belief.
    pub fn with<T>(&self, use_it: impl FnOnce(&dyn Core) -> T) -> T {
        match self {
            Kind::Latent(posterior) => use_it(posterior.as_ref()),
            Kind::Matched(posterior, warp) => use_it(&Warped::new(warp.inner.as_ref(), posterior)),
            Kind::Linearised(posterior, warp) => {
                use_it(&Linearised::new(warp.inner.as_ref(), posterior))
            }
        }
    }

    pub fn posterior(&self) -> &Arc<PosteriorProcess> {
        match self {
            Kind::Latent(posterior)
            | Kind::Matched(posterior, _)
            | Kind::Linearised(posterior, _) => posterior,
        }
    }

    pub fn link(&self) -> Option<&Warp> {
        match self {
            Kind::Latent(_) => None,
            Kind::Matched(_, warp) | Kind::Linearised(_, warp) => Some(warp),
        }
    }
}

impl Belief {
    pub fn new(kind: Kind, kernel: Kernel) -> Belief {
        Belief { kind, kernel }
    }

    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    fn moments(&self, x: &Numbers<'_>) -> PyResult<Moments> {
        let at = points("X", x)?;
        detached(x.py(), || self.kind.with(|belief| belief.moments(&at)))
    }
}

#[pymethods]
#[allow(non_snake_case)] // X is what Python calls a matrix of inputs
impl Belief {
    /// The dimension d of the inputs.
    #[getter]
    fn dim(&self) -> usize {
        self.kind.with(|belief| belief.dim())
    }

    /// The mean at each row of X.
    fn mean<'py>(&self, X: Numbers<'py>) -> PyResult<Vector<'py>> {
        Ok(vector(X.py(), self.moments(&X)?.means()))
    }

    /// The variance at each row of X.
    fn var<'py>(&self, X: Numbers<'py>) -> PyResult<Vector<'py>> {
        Ok(vector(X.py(), self.moments(&X)?.vars()))
    }

    /// The standard deviation at each row of X.
    fn sd<'py>(&self, X: Numbers<'py>) -> PyResult<Vector<'py>> {
        let moments = self.moments(&X)?;
        let pairs = moments.ln_unit.iter().zip(&moments.var);
        Ok(vector(
            X.py(),
            pairs.map(|(unit, var)| unit.exp() * var.sqrt()).collect(),
        ))
    }

    /// Mean and standard deviation together, for the price of one.
    fn predict<'py>(&self, X: Numbers<'py>) -> PyResult<(Vector<'py>, Vector<'py>)> {
        let moments = self.moments(&X)?;
        let pairs = moments.ln_unit.iter().zip(&moments.var);
        let sd = pairs.map(|(unit, var)| unit.exp() * var.sqrt()).collect();
        Ok((vector(X.py(), moments.means()), vector(X.py(), sd)))
    }

    /// ln of the mean, which holds where the mean underflows; NaN where it is negative.
    fn log_mean<'py>(&self, X: Numbers<'py>) -> PyResult<Vector<'py>> {
        let moments = self.moments(&X)?;
        let pairs = moments.ln_unit.iter().zip(&moments.mean);
        let ln_means = match moments.offset {
            0.0 => pairs.map(|(unit, mean)| unit + mean.ln()).collect(),
            _ => moments.means().into_iter().map(f64::ln).collect(),
        };
        Ok(vector(X.py(), ln_means))
    }

    /// ln of the standard deviation, which holds where that underflows.
    fn log_sd<'py>(&self, X: Numbers<'py>) -> PyResult<Vector<'py>> {
        let moments = self.moments(&X)?;
        let pairs = moments.ln_unit.iter().zip(&moments.var);
        Ok(vector(
            X.py(),
            pairs.map(|(unit, var)| unit + 0.5 * var.ln()).collect(),
        ))
    }

    /// The covariance between the rows of X and those of Y, or of X among themselves.
    #[pyo3(signature = (X, Y = None))]
    fn cov<'py>(&self, X: Numbers<'py>, Y: Option<Numbers<'py>>) -> PyResult<Matrix<'py>> {
        let py = X.py();
        let x = points("X", &X)?;
        let y = Y.as_ref().map(|y| points("Y", y)).transpose()?;
        let cov = detached(py, || {
            self.kind.with(|belief| {
                let y = y.as_ref().unwrap_or(&x);
                let (left, right) = (belief.moments(&x)?.ln_unit, belief.moments(y)?.ln_unit);
                let mut cov = belief.cov(&x, y)?;
                for (j, right) in right.iter().enumerate() {
                    let column = cov.col_mut(j).iter_mut().zip(&left);
                    column.for_each(|(c, left)| *c *= (left + right).exp());
                }
                Ok(cov)
            })
        })?;
        matrix(py, cov)
    }

    fn __repr__(&self) -> String {
        let n = self.kind.posterior().points().len();
        match &self.kind {
            Kind::Latent(_) => format!("<warpquad.Belief about g, {n} observations>"),
            Kind::Matched(_, warp) => format!(
                "<warpquad.Belief about f, {} warp, {n} observations>",
                warp.inner.name()
            ),
            Kind::Linearised(_, warp) => {
                format!(
                    "<warpquad.Belief about f, {} warp linearised, {n} observations>",
                    warp.inner.name()
                )
            }
        }
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> Reduced<'py, Pieces> {
        let latent = super::gp::PosteriorProcess::of(
            self.kind.posterior().clone(),
            self.kernel.clone(),
            None,
        );
        let linearised = matches!(self.kind, Kind::Linearised(..));
        let pieces = (Py::new(py, latent)?, self.kind.link().cloned(), linearised);
        Ok((py.import("warpquad._core")?.getattr("_belief")?, pieces))
    }
}

/// What `_belief` is given again.
type Pieces = (Py<super::gp::PosteriorProcess>, Option<Warp>, bool);

/// The belief of a pickle.
#[pyfunction]
fn _belief(latent: PyRef<'_, Belief>, warp: Option<Warp>, linearised: bool) -> Belief {
    let posterior = latent.kind.posterior().clone();
    let kind = match (warp, linearised) {
        (None, _) => Kind::Latent(posterior),
        (Some(warp), false) => Kind::Matched(posterior, warp),
        (Some(warp), true) => Kind::Linearised(posterior, warp),
    };
    Belief::new(kind, latent.kernel.clone())
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Belief>()?;
    module.add_function(wrap_pyfunction!(_belief, module)?)
}
