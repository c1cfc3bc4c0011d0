//! Baselines against integrals with known answers.

use super::*;
use crate::measure::Product;

#[test]
fn a_constant_is_integrated_exactly() {
    let pi = Product::uniform(&[(0.0, 1.0), (0.0, 2.0)]).unwrap();
    let settings = Settings {
        budget: Some(3000),
        ..Settings::default()
    };
    for name in ["mc", "qmc", "smc", "ais", "nested"] {
        let baseline = by_name(name).unwrap();
        let z = integrate(baseline.as_ref(), |_| -5000.0, &pi, &settings).unwrap();
        assert!((z.ln_z + 5000.0).abs() < 1e-9 && z.ln_sd < 1e-6, "{name} {z:?}");
    }
}
