//! Fit a warp to the range that f is known to have, in the data's units.

use crate::data::Data;
use crate::error::Result;
use crate::warp::{Affine, Range, Warp};
use std::sync::Arc;

/// Refuse a warp that cannot reach the range, before anything is observed.
pub(super) fn check(warp: &Arc<dyn Warp>, range: Range) -> Result<()> {
    match takes_as_it_is(warp.as_ref(), range) {
        true => Ok(()),
        false => Affine::between(warp.clone(), range).map(|_| ()),
    }
}

/// The warp for f in this range: in units of the largest observation where the range allows it,
/// otherwise mapped onto it.
pub(super) fn warp_for(warp: &Arc<dyn Warp>, range: Range, data: &Data) -> Result<Affine> {
    match takes_as_it_is(warp.as_ref(), range) {
        true => data.warp_shared(warp.clone()),
        false => Affine::between(warp.clone(), range),
    }
}

/// Whether the warp serves the range with no more than a change of units.
fn takes_as_it_is(warp: &dyn Warp, range: Range) -> bool {
    let natural = warp.range();
    let same = natural == range || warp.scales() && range.is_cone() && range.lo >= natural.lo;
    same || natural == Range::REAL
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::warp::by_name;

    #[test]
    fn warps_serve_the_ranges_they_can_be_mapped_to() {
        let reaches =
            |name: &str, lo: f64, hi: f64| check(&by_name(name).unwrap(), Range { lo, hi }).is_ok();
        let inf = f64::INFINITY;
        assert!(reaches("log", 0.0, inf) && reaches("log", 2.0, inf));
        assert!(reaches("probit", 0.0, 1.0) && reaches("probit", -3.0, 7.0));
        assert!(reaches("identity", -inf, inf) && reaches("identity", 0.0, inf));
        assert!(!reaches("log", 0.0, 1.0) && !reaches("probit", 0.0, inf));
    }
}
