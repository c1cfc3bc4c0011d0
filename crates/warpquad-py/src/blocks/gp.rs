//! Steps 1 and 3 from Python: the Gaussian process on g, before and after observing.

use super::belief::{Belief, Kind};
use super::convert::{Matrix, Numbers, Reduced, Vector, flat, points, rows, vector};
use super::data::Data;
use super::kernel::{Kernel, KernelLike};
use super::warp::{Warp, WarpLike};
use crate::error::{detached, raise};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;
use warpquad::belief::MeanFunction;
use warpquad::{Points, Process, Theta};

/// The prior p(g) = GP(mu, Sigma), itself a `Belief` about g.
///
/// `mean` is a number, or a dict of peak, center and width for the quadratic peak - sum(((x -
/// center)/width)^2)/2. `output_scale` is the variance Sigma(x, x), `length_scales` has one length
/// a dimension, and `noise` is the variance of the noise on g.
///
/// >>> import warpquad as wq
/// >>> gp = wq.GP("squared-exponential", mean=0.0, output_scale=1.0, length_scales=[1, 1])
/// >>> gp
/// <warpquad.GP squared-exponential, mean 0, output scale 1, length scales [1.0, 1.0]>
/// >>> posterior = gp.condition(wq.Data([[0.0, 0.0]], f=[2.0]), "identity")
/// >>> posterior.mean([[0.0, 0.0]])
/// array([2.])
#[pyclass(frozen, extends = Belief, module = "warpquad", name = "GP")]
pub struct Gp {
    pub process: Process,
    kernel: Kernel,
}

/// A constant or a quadratic mean.
#[derive(FromPyObject, IntoPyObject)]
enum MeanLike {
    Constant(f64),
    Quadratic(Quadratic),
}

#[derive(FromPyObject, IntoPyObject)]
#[pyo3(from_item_all)]
struct Quadratic {
    peak: f64,
    center: Vec<f64>,
    width: Vec<f64>,
}

impl Gp {
    pub fn of(kernel: Kernel, process: Process) -> warpquad::Result<PyClassInitializer<Gp>> {
        let unobserved = process.condition(&Points::empty(process.theta().dim())?, &[])?;
        let belief = Belief::new(Kind::Latent(Arc::new(unobserved)), kernel.clone());
        Ok(PyClassInitializer::from(belief).add_subclass(Gp { process, kernel }))
    }

    /// The same kernel with another prior, as a fit gives it.
    pub fn like(&self, process: Process) -> warpquad::Result<PyClassInitializer<Gp>> {
        Gp::of(self.kernel.clone(), process)
    }

    fn mean_like(&self) -> MeanLike {
        match &self.process.theta().mean {
            MeanFunction::Constant(mean) => MeanLike::Constant(*mean),
            MeanFunction::Quadratic {
                peak,
                center,
                width,
            } => MeanLike::Quadratic(Quadratic {
                peak: *peak,
                center: center.clone(),
                width: width.clone(),
            }),
        }
    }
}

#[pymethods]
impl Gp {
    #[new]
    #[pyo3(signature = (kernel = KernelLike::Name("matern32".into()), *, mean = MeanLike::Constant(0.0), output_scale = 1.0, length_scales = None, noise = 0.0))]
    fn new(
        py: Python<'_>,
        kernel: KernelLike,
        mean: MeanLike,
        output_scale: f64,
        length_scales: Option<Numbers<'_>>,
        noise: f64,
    ) -> PyResult<PyClassInitializer<Gp>> {
        let theta = Theta {
            mean: match mean {
                MeanLike::Constant(mean) => MeanFunction::Constant(mean),
                MeanLike::Quadratic(Quadratic {
                    peak,
                    center,
                    width,
                }) => MeanFunction::Quadratic {
                    peak,
                    center,
                    width,
                },
            },
            output_scale,
            length_scales: length_scales.map_or(vec![1.0], |lengths| flat(&lengths)),
            noise,
            axes: None,
            effects: None,
            circles: None,
        };
        let made = theta.check().and_then(|()| {
            let kernel = kernel.get()?;
            let process = Process::shared(kernel.inner.clone(), theta);
            Gp::of(kernel, process)
        });
        made.map_err(|error| raise(py, &error))
    }

    /// The kernel.
    #[getter]
    pub fn kernel(&self) -> Kernel {
        self.kernel.clone()
    }

    /// The hyperparameters: mean, output_scale, length_scales and noise.
    ///
    /// >>> import warpquad as wq
    /// >>> wq.GP(output_scale=2.0).theta["output_scale"]
    /// 2.0
    #[getter]
    fn theta<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let theta = self.process.theta();
        let out = PyDict::new(py);
        out.set_item("mean", self.mean_like())?;
        out.set_item("output_scale", theta.output_scale)?;
        out.set_item("length_scales", vector(py, theta.length_scales.clone()))?;
        out.set_item("noise", theta.noise)?;
        Ok(out)
    }

    /// Step 3: p(g | D), g being xi^-1 of the data.
    fn condition(
        &self,
        py: Python<'_>,
        data: Data,
        warp: WarpLike,
    ) -> PyResult<Py<PosteriorProcess>> {
        let warp = warp.get().map_err(|error| raise(py, &error))?;
        let posterior = detached(py, || {
            let g = data.inner.g(warp.inner.as_ref())?;
            self.process.condition(data.inner.points(), &g)
        })?;
        Py::new(
            py,
            PosteriorProcess::of(Arc::new(posterior), self.kernel.clone(), Some(warp)),
        )
    }

    /// Step 4 before any data: the prior belief about f = xi(g), moments matched.
    fn warp(slf: PyRef<'_, Self>, warp: WarpLike) -> PyResult<Belief> {
        let warp = warp.get().map_err(|error| raise(slf.py(), &error))?;
        let unobserved = slf.as_super().kind().posterior().clone();
        Ok(Belief::new(
            Kind::Matched(unobserved, warp),
            slf.kernel.clone(),
        ))
    }

    fn __repr__(&self) -> String {
        let theta = self.process.theta();
        let mean = match &theta.mean {
            MeanFunction::Constant(mean) => format!("mean {mean}"),
            MeanFunction::Quadratic { .. } => "quadratic mean".into(),
        };
        let (kernel, scale, lengths) =
            (self.kernel.name(), theta.output_scale, &theta.length_scales);
        format!("<warpquad.GP {kernel}, {mean}, output scale {scale}, length scales {lengths:?}>")
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> Reduced<'py, Bound<'py, PyAny>> {
        let keywords = self.theta(py)?;
        keywords.set_item("kernel", self.kernel())?;
        let partial = py.import("functools")?.getattr("partial")?;
        let make = partial.call((py.get_type::<Gp>(),), Some(&keywords))?;
        Ok((make, pyo3::types::PyTuple::empty(py).into_any()))
    }
}

/// p(g | D), itself a `Belief` about g. Made by `GP.condition`.
///
/// >>> import numpy as np, warpquad as wq
/// >>> data = wq.Data([0.0, 1.0], f=[1.0, 3.0])
/// >>> posterior = wq.GP("matern32").condition(data, "log")
/// >>> bool(np.allclose(posterior.warp().mean([1.0]), 3.0))
/// True
#[pyclass(frozen, extends = Belief, module = "warpquad", name = "Posterior")]
pub struct PosteriorProcess {
    warp: Option<Warp>,
    kernel: Kernel,
    inner: Arc<warpquad::PosteriorProcess>,
}

impl PosteriorProcess {
    pub fn of(
        inner: Arc<warpquad::PosteriorProcess>,
        kernel: Kernel,
        warp: Option<Warp>,
    ) -> PyClassInitializer<PosteriorProcess> {
        let belief = Belief::new(Kind::Latent(inner.clone()), kernel.clone());
        PyClassInitializer::from(belief).add_subclass(PosteriorProcess {
            warp,
            kernel,
            inner,
        })
    }

    fn link(&self, py: Python<'_>, warp: Option<WarpLike>) -> PyResult<Warp> {
        let own = || {
            let reason = "this posterior was made without one; give it";
            self.warp
                .clone()
                .ok_or_else(|| warpquad::Error::spec("warp", reason))
        };
        warp.map_or_else(own, WarpLike::get)
            .map_err(|error| raise(py, &error))
    }
}

#[pymethods]
impl PosteriorProcess {
    /// Step 4: the belief about f = xi(g), with the exact first two moments of xi(g). Without a
    /// warp, it is the one it was conditioned with.
    #[pyo3(signature = (warp = None))]
    fn warp(&self, py: Python<'_>, warp: Option<WarpLike>) -> PyResult<Belief> {
        Ok(Belief::new(
            Kind::Matched(self.inner.clone(), self.link(py, warp)?),
            self.kernel.clone(),
        ))
    }

    /// The other step 4: xi expanded about the mean of g, as WSABI-L does.
    #[pyo3(signature = (warp = None))]
    fn linearise(&self, py: Python<'_>, warp: Option<WarpLike>) -> PyResult<Belief> {
        Ok(Belief::new(
            Kind::Linearised(self.inner.clone(), self.link(py, warp)?),
            self.kernel.clone(),
        ))
    }

    /// Condition on more data, in O(n^2) a point.
    fn extend(&self, py: Python<'_>, data: Data) -> PyResult<Py<PosteriorProcess>> {
        let warp = self.link(py, None)?;
        let longer = detached(py, || {
            let g = data.inner.g(warp.inner.as_ref())?;
            self.inner.extend(data.inner.points(), &g)
        })?;
        Py::new(
            py,
            PosteriorProcess::of(Arc::new(longer), self.kernel.clone(), Some(warp)),
        )
    }

    /// Where g was observed, (n, d).
    #[getter]
    #[allow(non_snake_case)]
    fn X<'py>(&self, py: Python<'py>) -> PyResult<Matrix<'py>> {
        rows(py, self.inner.points())
    }

    /// What was observed there.
    #[getter]
    fn g<'py>(&self, py: Python<'py>) -> Vector<'py> {
        vector(py, self.inner.g().to_vec())
    }

    /// The jitter that the factorisation needed, relative to the diagonal; 0 for most data.
    #[getter]
    fn jitter(&self) -> f64 {
        self.inner.jitter()
    }

    /// The hyperparameters it has: mean, output_scale, length_scales and noise.
    #[getter]
    fn theta<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.gp().theta(py)
    }

    fn __repr__(&self) -> String {
        let kernel = self.inner.process().kernel().name();
        format!(
            "<warpquad.PosteriorProcess of g, {kernel}, {} observations>",
            self.inner.points().len()
        )
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> Reduced<'py, Pieces<'py>> {
        let gp = Gp::of(self.kernel.clone(), self.inner.process().clone());
        let gp = Py::new(py, gp.map_err(|error| raise(py, &error))?)?;
        let noise = vector(py, self.inner.own_noise().to_vec());
        let pieces = (gp, self.X(py)?, self.g(py), self.warp.clone(), noise);
        Ok((py.import("warpquad._core")?.getattr("_posterior")?, pieces))
    }
}

impl PosteriorProcess {
    /// The library's own.
    pub fn inner(&self) -> &warpquad::PosteriorProcess {
        &self.inner
    }

    fn gp(&self) -> Gp {
        let (process, kernel) = (self.inner.process().clone(), self.kernel.clone());
        Gp { process, kernel }
    }
}

/// What `_posterior` is given again.
type Pieces<'py> = (Py<Gp>, Matrix<'py>, Vector<'py>, Option<Warp>, Vector<'py>);

/// The posterior of a pickle.
#[pyfunction]
#[allow(non_snake_case)]
fn _posterior(
    py: Python<'_>,
    gp: PyRef<'_, Gp>,
    X: Numbers<'_>,
    g: Numbers<'_>,
    warp: Option<Warp>,
    noise: Numbers<'_>,
) -> PyResult<Py<PosteriorProcess>> {
    let (x, g) = (points("X", &X)?, flat(&g));
    let posterior = gp
        .process
        .condition_noisy(&x, &g, &flat(&noise))
        .map_err(|error| raise(py, &error))?;
    Py::new(
        py,
        PosteriorProcess::of(Arc::new(posterior), gp.kernel.clone(), warp),
    )
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Gp>()?;
    module.add_class::<PosteriorProcess>()?;
    module.add_function(wrap_pyfunction!(_posterior, module)?)
}
