//! Change variables: the charts z <-> x in which a measure is uniform, normal or at least well
//! scaled.

// from_natural is the inverse of to_natural, not a constructor.
#![allow(clippy::wrong_self_convention)]

use super::{Circle, Form1, Measure, Normal, Product, Uniform, Univariate};
use crate::error::{Error, Result, same_length};
use crate::numeric::quantile::Tail;
use crate::numeric::special::{ln_normal_pdf, normal_cdf, normal_quantile};
use std::fmt::Debug;
use std::sync::Arc;

/// The names of the charts.
///
/// ```
/// use warpquad::measure::Chart;
/// assert!(Chart::ALL.iter().all(|&c| Chart::parse(c.name()) == Ok(c)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chart {
    /// z = x: the user's own coordinates, where the published methods live.
    Identity,
    /// The logarithm of positive parameters, the logit of those between two ends, x itself
    /// otherwise.
    Natural,
    /// The normal score z = Phi^-1(F(x)): pi becomes the standard normal.
    Score,
    /// The unit cube u = F(x): pi becomes uniform.
    Unit,
    /// Coordinates without bounds, in which narrow peaks are sought: the logarithm of positive
    /// parameters and x on the whole line, both from the median and in units of the prior's spread;
    /// the normal score between two ends. An angle goes round and round.
    Free,
}

impl Chart {
    /// All charts.
    pub const ALL: [Chart; 5] = [
        Chart::Identity,
        Chart::Natural,
        Chart::Score,
        Chart::Unit,
        Chart::Free,
    ];

    /// Their names.
    pub const NAMES: &'static [&'static str] = &["identity", "natural", "score", "unit", "free"];

    /// Its name.
    pub fn name(self) -> &'static str {
        Chart::NAMES[self as usize]
    }

    /// The chart of that name.
    pub fn parse(name: &str) -> Result<Chart> {
        let found = Chart::ALL.into_iter().find(|chart| chart.name() == name);
        found.ok_or_else(|| {
            let names = Chart::ALL.map(Chart::name).join(", ");
            Error::spec(
                "chart",
                format!("there is no \"{name}\"; choose one of {names}"),
            )
        })
    }
}

/// A change of variables x(z) with the law of z.
pub trait Coordinates: Debug + Send + Sync {
    /// z of `x`; an error names a point outside the support, or a map without an inverse.
    fn to_natural(&self, x: &[f64], z: &mut [f64]) -> Result<()>;

    /// x of `z`; stays strictly inside the support.
    fn from_natural(&self, z: &[f64], x: &mut [f64]);

    /// ln |dx/dz| at `z`: the density of z is that of x(z) times |dx/dz|.
    fn ln_jacobian(&self, z: &[f64]) -> f64;

    /// The law of z.
    fn measure(&self) -> &dyn Measure;
}

/// z = x.
///
/// ```
/// use warpquad::measure::{Chart, Measure, Product};
/// let pi = Product::uniform(&[(0.0, 1.0)])?;
/// assert_eq!(pi.coordinates(Chart::Identity)?.ln_jacobian(&[0.3]), 0.0);
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Identity<M>(pub M);

impl<M: Measure> Coordinates for Identity<M> {
    fn to_natural(&self, x: &[f64], z: &mut [f64]) -> Result<()> {
        same_length("point", x.len(), self.0.dim())?;
        z.copy_from_slice(x);
        Ok(())
    }

    fn from_natural(&self, z: &[f64], x: &mut [f64]) {
        x.copy_from_slice(z);
    }

    fn ln_jacobian(&self, _z: &[f64]) -> f64 {
        0.0
    }

    fn measure(&self) -> &dyn Measure {
        &self.0
    }
}

/// Eight orders of magnitude.
const FARTHEST_LN: f64 = 18.4;
const MOST_E_FOLDS: f64 = 5.0;

/// The natural coordinate of one parameter.
///
/// ```
/// use warpquad::measure::Coordinate;
/// let logit = Coordinate::Logit { lo: 0.0, hi: 2.0 };
/// assert_eq!(logit.from_natural(0.0), 1.0);
/// assert!((logit.to_natural(logit.from_natural(-3.0)) + 3.0).abs() < 1e-14);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Coordinate {
    /// z = x.
    Linear,
    /// z = ln x.
    Log,
    /// z = x + any number of periods.
    Circle(Circle),
    /// z = ln((x - lo)/(hi - x)).
    Logit {
        /// The lower end.
        lo: f64,
        /// The upper end.
        hi: f64,
    },
}

impl Coordinate {
    /// z of x; not finite outside the support.
    pub fn to_natural(self, x: f64) -> f64 {
        match self {
            Coordinate::Linear | Coordinate::Circle(_) => x,
            Coordinate::Log => x.ln(),
            Coordinate::Logit { lo, hi } => ((x - lo) / (hi - x)).ln(),
        }
    }

    /// x of z, kept to positive normal numbers and strictly between two ends.
    pub fn from_natural(self, z: f64) -> f64 {
        match self {
            Coordinate::Linear => z,
            Coordinate::Circle(circle) => circle.wrap(z),
            Coordinate::Log => z.exp().clamp(f64::MIN_POSITIVE, f64::MAX),
            // Measured from the nearer end, so that both ends are resolved alike.
            Coordinate::Logit { lo, hi } => {
                let part = (hi - lo) / (1.0 + z.abs().exp());
                let x = if z < 0.0 { lo + part } else { hi - part };
                super::inside(x, lo, hi)
            }
        }
    }

    /// ln dx/dz.
    pub fn ln_jacobian(self, z: f64) -> f64 {
        match self {
            Coordinate::Linear | Coordinate::Circle(_) => 0.0,
            Coordinate::Log => z,
            Coordinate::Logit { lo, hi } => {
                (hi - lo).ln() - z.abs() - 2.0 * (-z.abs()).exp().ln_1p()
            }
        }
    }

    /// The derivative of [`ln_jacobian`](Self::ln_jacobian).
    pub fn d_ln_jacobian(self, z: f64) -> f64 {
        match self {
            Coordinate::Linear | Coordinate::Circle(_) => 0.0,
            Coordinate::Log => 1.0,
            Coordinate::Logit { .. } => -(0.5 * z).tanh(),
        }
    }
}

/// The law of z = (`coordinate`(X) - center)/unit, for an X without a named one.
///
/// # Definition
/// ln p(z) = ln p_X(x(z)) + ln dx/dz.
///
/// ```
/// use warpquad::measure::{Coordinate, Pushed, Univariate, univariate};
/// let x = univariate("exponential", &[2.0])?;
/// let z = Pushed::new(x.clone(), Coordinate::Log);
/// assert!((z.quantile(0.3) - x.quantile(0.3).ln()).abs() < 1e-15);
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Pushed {
    law: Arc<dyn Univariate>,
    coordinate: Coordinate,
    center: f64,
    unit: f64,
}

impl Pushed {
    /// Push `law` forward.
    pub fn new(law: Arc<dyn Univariate>, coordinate: Coordinate) -> Pushed {
        Pushed {
            law,
            coordinate,
            center: 0.0,
            unit: 1.0,
        }
    }

    /// Push `law` forward, and measure from the median in units of the sd that a normal law with
    /// its quartiles would have. A law of a positive parameter that spans more orders of magnitude
    /// than anything measured, such as gamma(0.001, 0.001) with its median at e^-690, says nothing
    /// of its size: logarithms are measured from no farther than `FARTHEST_LN` and in units of at
    /// most `MOST_E_FOLDS`.
    pub fn standard(law: Arc<dyn Univariate>, coordinate: Coordinate) -> Pushed {
        let quartiles = [0.25, 0.5, 0.75].map(|p| coordinate.to_natural(law.quantile(p)));
        let unit = 0.5 * (quartiles[2] - quartiles[0]) / normal_quantile(0.75);
        let unit = if unit.is_finite() && unit > 0.0 {
            unit
        } else {
            1.0
        };
        let (center, unit) = match coordinate {
            Coordinate::Log => (
                quartiles[1].clamp(-FARTHEST_LN, FARTHEST_LN),
                unit.min(MOST_E_FOLDS),
            ),
            _ => (quartiles[1], unit),
        };
        Pushed {
            law,
            coordinate,
            center,
            unit,
        }
    }

    /// z of x; not finite outside the support.
    fn to_natural(&self, x: f64) -> f64 {
        (self.coordinate.to_natural(x) - self.center) / self.unit
    }

    /// x of z.
    fn from_natural(&self, z: f64) -> f64 {
        self.coordinate.from_natural(self.before(z))
    }

    /// ln dx/dz.
    fn ln_jacobian(&self, z: f64) -> f64 {
        self.coordinate.ln_jacobian(self.before(z)) + self.unit.ln()
    }

    /// The natural coordinate of z.
    fn before(&self, z: f64) -> f64 {
        self.center + self.unit * z
    }
}

impl Univariate for Pushed {
    fn quantile_at(&self, tail: Tail) -> f64 {
        self.to_natural(self.law.quantile_at(tail))
    }

    fn cdf(&self, z: f64) -> f64 {
        self.law.cdf(self.from_natural(z))
    }

    fn sf(&self, z: f64) -> f64 {
        self.law.sf(self.from_natural(z))
    }

    fn ln_density(&self, z: f64) -> f64 {
        self.law.ln_density(self.from_natural(z)) + self.ln_jacobian(z)
    }

    fn d_ln_density(&self, z: f64) -> f64 {
        let slope = self.ln_jacobian(z).exp();
        let of_jacobian = self.unit * self.coordinate.d_ln_jacobian(self.before(z));
        self.law.d_ln_density(self.from_natural(z)) * slope + of_jacobian
    }

    fn support(&self) -> (f64, f64) {
        let (lo, hi) = self.law.support();
        (self.to_natural(lo), self.to_natural(hi))
    }

    fn mean(&self) -> Option<f64> {
        None
    }

    fn variance(&self) -> Option<f64> {
        None
    }

    fn circle(&self) -> Option<Circle> {
        let circle = self.law.circle()?;
        Some(Circle {
            start: self.to_natural(circle.start),
            period: circle.period / self.unit,
        })
    }
}

/// The chart of one coordinate.
#[derive(Debug, Clone)]
enum Chart1 {
    Plain(Coordinate),
    Score(Arc<dyn Univariate>),
    Unit(Arc<dyn Univariate>),
    Free(Pushed),
}

impl Chart1 {
    fn new(law: &Arc<dyn Univariate>, chart: Chart) -> Chart1 {
        match chart {
            Chart::Identity => Chart1::Plain(Coordinate::Linear),
            Chart::Natural => Chart1::Plain(law.coordinate()),
            Chart::Score => Chart1::Score(law.clone()),
            Chart::Unit => Chart1::Unit(law.clone()),
            Chart::Free => match law.support() {
                _ if law.circle().is_some() => {
                    let circle = law.circle().map_or(Coordinate::Linear, Coordinate::Circle);
                    Chart1::Free(Pushed::standard(law.clone(), circle))
                }
                (lo, hi) if lo == f64::NEG_INFINITY && hi == f64::INFINITY => {
                    Chart1::Free(Pushed::standard(law.clone(), Coordinate::Linear))
                }
                (lo, hi) if lo == 0.0 && hi == f64::INFINITY => {
                    Chart1::Free(Pushed::standard(law.clone(), Coordinate::Log))
                }
                _ => Chart1::Score(law.clone()),
            },
        }
    }

    fn to_natural(&self, x: f64) -> f64 {
        match self {
            Chart1::Plain(coordinate) => coordinate.to_natural(x),
            Chart1::Score(law) => match (law.cdf(x), law.sf(x)) {
                (p, q) if p <= q => normal_quantile(p),
                (_, q) => -normal_quantile(q),
            },
            Chart1::Unit(law) => law.cdf(x),
            Chart1::Free(pushed) => pushed.to_natural(x),
        }
    }

    fn from_natural(&self, z: f64) -> f64 {
        match self {
            Chart1::Plain(coordinate) => coordinate.from_natural(z),
            // Beyond 37.5 the mass of a normal tail is no normal number: the quantile stays there.
            Chart1::Score(law) => {
                let mass = normal_cdf(-z.abs()).max(f64::MIN_POSITIVE);
                let lower = z < 0.0;
                law.quantile_at(if lower {
                    Tail::Lower(mass)
                } else {
                    Tail::Upper(mass)
                })
            }
            Chart1::Unit(law) => law.quantile(open(z)),
            Chart1::Free(pushed) => pushed.from_natural(z),
        }
    }

    fn ln_jacobian(&self, z: f64) -> f64 {
        match self {
            Chart1::Plain(coordinate) => coordinate.ln_jacobian(z),
            Chart1::Score(law) => ln_normal_pdf(z) - law.ln_density(self.from_natural(z)),
            Chart1::Unit(law) => -law.ln_density(self.from_natural(z)),
            Chart1::Free(pushed) => pushed.ln_jacobian(z),
        }
    }

    /// The law of z.
    fn law(&self, law: &Arc<dyn Univariate>) -> Arc<dyn Univariate> {
        match self {
            Chart1::Plain(Coordinate::Linear) => law.clone(),
            Chart1::Plain(coordinate) => {
                let pushed = || Arc::new(Pushed::new(law.clone(), *coordinate)) as Arc<_>;
                law.natural_law().unwrap_or_else(pushed)
            }
            Chart1::Score(_) => Arc::new(Normal::standard()),
            Chart1::Unit(_) if law.circle().is_some() => Arc::new(Uniform::unit_circle()),
            Chart1::Unit(_) => Arc::new(Uniform::unit()),
            Chart1::Free(pushed) => Arc::new(pushed.clone()),
        }
    }
}

/// Bring a coordinate of the cube into the open interval: its ends would map to infinity.
pub(super) fn open(u: f64) -> f64 {
    // The largest number below one is 1 - 2^-53.
    u.clamp(f64::MIN_POSITIVE, 1.0 - 0.5 * f64::EPSILON)
}

/// Coordinate-wise charts of a [`Product`]; the law of z is a [`Product`] again.
///
/// ```
/// use warpquad::measure::{Chart, Form, Form1, Measure, Product, univariate};
/// let pi = Product::new(vec![univariate("gamma", &[0.5, 3.0])?])?;
/// let score = pi.coordinates(Chart::Score)?;
/// let standard = Form1::Normal { mean: 0.0, sd: 1.0 };
/// assert_eq!(score.measure().form(), Form::Product(vec![standard]));
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Separable {
    charts: Vec<Chart1>,
    law: Product,
}

impl Separable {
    /// The chart `chart` of every coordinate of `product`.
    pub fn new(product: &Product, chart: Chart) -> Separable {
        let laws = product.laws();
        let charts: Vec<_> = laws.iter().map(|law| Chart1::new(law, chart)).collect();
        let pushed = charts.iter().zip(laws).map(|(chart, law)| chart.law(law));
        let law = Product::of_laws(pushed.collect());
        Separable { charts, law }
    }
}

impl Coordinates for Separable {
    fn to_natural(&self, x: &[f64], z: &mut [f64]) -> Result<()> {
        same_length("point", x.len(), self.charts.len())?;
        for (d, (chart, &x)) in self.charts.iter().zip(x).enumerate() {
            z[d] = chart.to_natural(x);
            if !z[d].is_finite() {
                let reason = format!("{x} lies outside the support of the prior");
                return Err(Error::spec(format!("point[{d}]"), reason));
            }
        }
        Ok(())
    }

    fn from_natural(&self, z: &[f64], x: &mut [f64]) {
        for ((chart, &z), x) in self.charts.iter().zip(z).zip(x) {
            *x = chart.from_natural(z);
        }
    }

    fn ln_jacobian(&self, z: &[f64]) -> f64 {
        let terms = self.charts.iter().zip(z);
        terms.map(|(chart, &z)| chart.ln_jacobian(z)).sum()
    }

    fn measure(&self) -> &dyn Measure {
        &self.law
    }
}

/// The forms of all coordinates.
pub(super) fn forms(laws: &[Arc<dyn Univariate>]) -> Vec<Form1> {
    laws.iter().map(|law| law.form()).collect()
}
