//! The drawn law of Z from Python.

use super::belief::{Belief, Kind};
use super::measure::Nodes;
use crate::error::{detached, raise};
use pyo3::prelude::*;
use std::sync::Arc;
use warpquad::functional::law as core;
use warpquad::numeric::random::Rng;
use warpquad::warp::{Affine, Identity, Warp};
use warpquad::{Ensemble, Matching, Model};

/// Draws of Z = integral of xi(g), never outside the range of f. Made by `law`.
///
/// >>> import warpquad as wq
/// >>> data = wq.Data([-1.0, 0.0, 1.0], f=[0.4, 1.0, 0.4])
/// >>> belief = wq.GP("matern32").condition(data, "log").warp()
/// >>> z = wq.law(belief, wq.measure("uniform", -1, 1).nodes(512))
/// >>> z.log_quantile(0.5) < 0.0
/// True
#[pyclass(frozen, module = "warpquad")]
pub struct Law {
    inner: warpquad::functional::Law,
}

#[pymethods]
impl Law {
    /// The quantile of Z.
    fn quantile(&self, p: f64) -> f64 {
        self.inner.quantile(p)
    }

    /// The quantile of ln Z.
    fn log_quantile(&self, p: f64) -> f64 {
        self.inner.ln_quantile(p)
    }

    /// The standard deviation of ln Z, from the central 68 %.
    #[getter]
    fn log_sd(&self) -> f64 {
        self.inner.ln_sd()
    }

    /// ln of the mean over the draws.
    #[getter]
    fn log_mean(&self) -> f64 {
        self.inner.ln_mean()
    }

    fn __len__(&self) -> usize {
        self.inner.len()
    }

    fn __repr__(&self) -> String {
        format!("<warpquad.Law of Z, {} draws>", self.inner.len())
    }
}

/// Draw the law of Z on the nodes: g jointly at those that matter, pushed through xi and summed.
///
/// >>> import warpquad as wq
/// >>> data = wq.Data([-1.0, 0.0, 1.0], f=[0.4, 1.0, 0.4])
/// >>> belief = wq.GP("matern32").condition(data, "log").warp()
/// >>> z = wq.law(belief, wq.measure("uniform", -1, 1).nodes(512))
/// >>> 0 < z.quantile(0.025) < z.quantile(0.975) < 2
/// True
#[pyfunction]
#[pyo3(signature = (belief, nodes, *, draws = 4000, seed = 0))]
fn law(
    py: Python<'_>,
    belief: PyRef<'_, Belief>,
    nodes: Nodes,
    draws: usize,
    seed: u64,
) -> PyResult<Law> {
    let kind = belief.kind().clone();
    let warp: Arc<dyn Warp> = match &kind {
        Kind::Latent(_) => Arc::new(Identity),
        Kind::Matched(_, warp) => warp.inner.clone(),
        Kind::Linearised(..) => {
            let reason = "a linearised belief is normal: use Functional.apply, whose law is exact";
            return Err(raise(py, &warpquad::Error::spec("belief", reason)));
        }
    };
    let inner = detached(py, || {
        let warp = Affine::scaled(warp, 0.0)?;
        let model = Model::new(warp, kind.posterior().as_ref().clone(), Matching::Moments);
        core(&Ensemble::one(model), &nodes.inner, draws, &Rng::new(seed))
    })?;
    Ok(Law { inner })
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Law>()?;
    module.add_function(wrap_pyfunction!(law, module)?)
}
