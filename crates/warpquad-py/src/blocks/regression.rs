//! What `WarpedGPRegressor` is made of: the fit with noise, and the exact law of a prediction.

use super::convert::{Numbers, Vector, flat, points, vector};
use super::gp::{Gp, PosteriorProcess};
use super::warp::Warp;
use crate::error::{detached, raise};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;
use warpquad::Fit;
use warpquad::fit::Space;
use warpquad::regression::{Noise, NoiseOn, ObservationLaw, Regressed, Regression};
use warpquad::warp::{Affine, Marginal, Warp as _};

/// Fit and condition: the posterior, the warp in the data's units, the noise of each value (or the
/// one of all), and the ln likelihood. No noise at all is exact, one number is the same for all.
#[pyfunction]
#[pyo3(signature = (gp, warp, X, y, noise, on_f, space, restarts, seed))]
#[allow(non_snake_case, clippy::too_many_arguments)]
fn _regress<'py>(
    py: Python<'py>,
    gp: PyRef<'py, Gp>,
    warp: Warp,
    X: Numbers<'py>,
    y: Numbers<'py>,
    noise: Option<Vec<f64>>,
    on_f: bool,
    space: &str,
    restarts: usize,
    seed: u64,
) -> PyResult<(Py<PosteriorProcess>, Warp, Vector<'py>, f64)> {
    let (x, y) = (points("X", &X)?, flat(&y));
    let noise = match noise.as_deref() {
        None => Noise::Fitted,
        Some([]) => Noise::Exact,
        Some(&[v]) => Noise::Same(v),
        Some(all) => Noise::Each(all.to_vec()),
    };
    let process = gp.process.clone();
    let (inner, seen) = (warp.inner.clone(), y.clone());
    let space = Space::by_name(space).map_err(|error| raise(py, &error))?;
    let found = detached(py, || {
        let how = Fit {
            space,
            restarts,
            seed,
            ..Fit::default()
        };
        let regression = Regression::shared(process, inner).with_noise(noise);
        regression
            .with_noise_on(if on_f { NoiseOn::F } else { NoiseOn::G })
            .with_fit(how)
            .fit(&x, &seen)
    })?;
    // The units that the library gave its warp: what it makes of g = 1 against the plain one.
    let (ours, plain) = (found.warp.local(1.0), warp.inner.local(1.0));
    let scaled = warp.scaled(ours.ln_unit - plain.ln_unit);
    let scaled = scaled.map_err(|error| raise(py, &error))?;
    let posterior =
        PosteriorProcess::of(Arc::new(found.posterior), gp.kernel(), Some(scaled.clone()));
    let noise = vector(py, found.noise);
    Ok((Py::new(py, posterior)?, scaled, noise, found.ln_likelihood))
}

/// The laws of f = xi(g), or of values with noise on f.
fn each<'py>(
    columns: [&Numbers<'py>; 3],
    warp: &Warp,
    of: impl Fn(usize, &ObservationLaw<'_>) -> f64,
) -> Vec<f64> {
    let [mu, s, noise] = columns.map(flat);
    let law = |i: usize| {
        let at = Marginal { mu: mu[i], s: s[i] };
        of(i, &ObservationLaw::new(warp.inner.as_ref(), at, noise[i]))
    };
    (0..mu.len()).map(law).collect()
}

/// ln of the density at y, where g has these means and variances, with this noise on f.
#[pyfunction]
fn _law_log_density<'py>(
    py: Python<'py>,
    warp: Warp,
    mu: Numbers<'py>,
    s: Numbers<'py>,
    noise: Numbers<'py>,
    y: Numbers<'py>,
) -> Vector<'py> {
    let y = flat(&y);
    vector(
        py,
        each([&mu, &s, &noise], &warp, |i, law| law.ln_density(y[i])),
    )
}

/// Below this lies the part p of the mass.
#[pyfunction]
fn _law_quantile<'py>(
    py: Python<'py>,
    warp: Warp,
    mu: Numbers<'py>,
    s: Numbers<'py>,
    noise: Numbers<'py>,
    p: f64,
) -> Vector<'py> {
    vector(py, each([&mu, &s, &noise], &warp, |_, law| law.quantile(p)))
}

/// The means and the sds.
#[pyfunction]
fn _law_moments<'py>(
    py: Python<'py>,
    warp: Warp,
    mu: Numbers<'py>,
    s: Numbers<'py>,
    noise: Numbers<'py>,
) -> (Vector<'py>, Vector<'py>) {
    let means = each([&mu, &s, &noise], &warp, |_, law| law.moments().0);
    let sds = each([&mu, &s, &noise], &warp, |_, law| law.moments().1);
    (vector(py, means), vector(py, sds))
}

/// What each value was expected to be, given all the others.
#[pyfunction]
fn _left_out<'py>(
    py: Python<'py>,
    posterior: PyRef<'py, PosteriorProcess>,
    warp: Warp,
    noise: Numbers<'py>,
    on_f: bool,
    y: Numbers<'py>,
) -> PyResult<Bound<'py, PyDict>> {
    let regressed = Regressed {
        posterior: posterior.inner().clone(),
        warp: Affine::scaled(warp.inner.clone(), 0.0).map_err(|error| raise(py, &error))?,
        ln_likelihood: f64::NAN,
        noise: flat(&noise),
        on: if on_f { NoiseOn::F } else { NoiseOn::G },
        values: flat(&y),
    };
    let scores = detached(py, || Ok(regressed.left_out()))?;
    let column = |of: fn(&warpquad::regression::LeftOut) -> f64| {
        vector(py, scores.each.iter().map(of).collect())
    };
    let out = PyDict::new(py);
    out.set_item("mean", column(|one| one.mean))?;
    out.set_item("std", column(|one| one.sd))?;
    out.set_item("log_density", column(|one| one.ln_density))?;
    out.set_item("mean_log_density", scores.mean_ln_density)?;
    out.set_item("rms_error", scores.rms_error)?;
    out.set_item("coverage", scores.coverage)?;
    Ok(out)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(_regress, module)?)?;
    module.add_function(wrap_pyfunction!(_law_log_density, module)?)?;
    module.add_function(wrap_pyfunction!(_law_quantile, module)?)?;
    module.add_function(wrap_pyfunction!(_law_moments, module)?)?;
    module.add_function(wrap_pyfunction!(_left_out, module)?)
}
