//! Hold the normal law of Z, in a unit that cannot underflow.

use crate::numeric::special::ln_normal_pdf;

/// Z ~ offset + exp(ln_unit) N(mean, var), with the error of the node rule apart.
///
/// ```
/// use warpquad::functional::Estimate;
/// let z = Estimate {
///     offset: 0.0, ln_unit: -9000.0, mean: 2.0, var: 0.04, node_error: 1e-4, closed_form: false,
/// };
/// assert!((z.ln_mean() - (2.0_f64.ln() - 9000.0)).abs() < 1e-12);
/// assert!((z.ln_sd() - 0.1).abs() < 1e-3);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The constant part.
    pub offset: f64,
    /// ln of the unit of the rest.
    pub ln_unit: f64,
    /// The mean of the rest, in the unit.
    pub mean: f64,
    /// Its variance, in the unit squared: what the belief does not know.
    pub var: f64,
    /// The standard error of the node rule in the mean, in the unit; 0 for a closed form.
    pub node_error: f64,
    /// Whether the integral was a closed form.
    pub closed_form: bool,
}

impl Estimate {
    /// The mean of Z in the user's units; a tiny Z underflows to the offset: see
    /// [`Estimate::ln_mean`].
    pub fn mean(&self) -> f64 {
        self.offset + self.ln_unit.exp() * self.mean
    }

    /// The standard deviation of Z in the user's units.
    pub fn sd(&self) -> f64 {
        self.ln_unit.exp() * self.var.sqrt()
    }

    /// The same with the error of the nodes.
    pub fn sd_with_nodes(&self) -> f64 {
        self.ln_unit.exp() * self.var.sqrt().hypot(self.node_error)
    }

    /// ln of the mean of Z; NaN if the mean is negative.
    pub fn ln_mean(&self) -> f64 {
        if self.offset == 0.0 {
            self.ln_unit + self.mean.ln()
        } else {
            self.mean().ln()
        }
    }

    /// The relative standard deviation of Z.
    pub fn relative_sd(&self) -> f64 {
        if self.offset == 0.0 {
            self.var.sqrt() / self.mean.abs()
        } else {
            self.sd() / self.mean().abs()
        }
    }

    /// The standard deviation of ln Z, for the log-normal law with the same two moments.
    pub fn ln_sd(&self) -> f64 {
        self.relative_sd().powi(2).ln_1p().sqrt()
    }

    /// The node rule's relative error: its standard error in ln Z.
    pub fn relative_node_error(&self) -> f64 {
        if self.offset == 0.0 {
            self.node_error / self.mean.abs()
        } else {
            self.ln_unit.exp() * self.node_error / self.mean().abs()
        }
    }

    /// ln p(Z = exp(ln_z)) under the normal law, as a density of Z / exp(ln_z): comparable between
    /// problems of any scale.
    pub fn ln_density_relative(&self, ln_z: f64) -> f64 {
        // The score in Z's own unit, where mean and sd are plain numbers however far the belief is
        // off.
        let z = (ln_z - self.ln_unit).exp() - in_unit(self.offset, self.ln_unit);
        let sd = self.var.sqrt();
        ln_normal_pdf((z - self.mean) / sd) - (self.ln_unit - ln_z) - sd.ln()
    }
}

/// A constant in the unit exp(ln_unit). Nothing is nothing in any unit, though 1/exp(-1000)
/// overflows.
pub(super) fn in_unit(offset: f64, ln_unit: f64) -> f64 {
    match offset {
        0.0 => 0.0,
        offset => offset * (-ln_unit).exp(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_density_of_a_tiny_z_is_that_of_a_plain_one() {
        let z = |ln_unit: f64| Estimate {
            offset: 0.0,
            ln_unit,
            mean: 2.0,
            var: 0.04,
            node_error: 0.0,
            closed_form: false,
        };
        let plain = z(0.0).ln_density_relative(1.9_f64.ln());
        let tiny = z(-9000.0).ln_density_relative(1.9_f64.ln() - 9000.0);
        assert!(plain.is_finite() && (plain - tiny).abs() < 1e-10);
        // A belief 9000 nats too high: the truth is 10 sd below its mean, at a density of e^-9000.
        let far = z(0.0).ln_density_relative(-9000.0);
        assert!((far - (ln_normal_pdf(-10.0) - 9000.0 - 0.2_f64.ln())).abs() < 1e-9);
    }
}
