//! Say where to start with main effects: a share of ln f that is a sum over the parameters.

use crate::belief::{Effects, Theta};

/// Theta with main effects, to be fitted: half of the variance over the lengths of theta and the
/// rest over longer ones, or nearly all of it. None in one dimension, where they are nothing new.
pub(super) fn with_effects(theta: &Theta) -> Vec<Theta> {
    let start = |share: f64, stretch: f64| Theta {
        length_scales: theta.length_scales.iter().map(|l| l / stretch).collect(),
        effects: Some(Effects { share, stretch }),
        ..theta.clone()
    };
    match theta.dim() {
        1 => Vec::new(),
        _ => vec![start(0.5, 0.3), start(0.9, 1.0)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_dimension_has_no_effects_and_two_keep_their_lengths() {
        let theta = |d: usize| Theta::constant(0.0, 1.0, vec![0.6; d]).unwrap();
        assert!(with_effects(&theta(1)).is_empty());
        for started in with_effects(&theta(2)) {
            // The effects' own length is the stretch times the others.
            let effects = started.effects.unwrap();
            assert!((started.length_scales[0] * effects.stretch - 0.6).abs() < 1e-12);
        }
    }
}
