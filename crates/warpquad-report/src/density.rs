//! Turn draws into what a corner plot shows: histograms, and regions that hold a part of the mass.

use crate::axis::Axis;
use contour::ContourBuilder;
use geo_types::{LineString, Polygon};
use warpquad::Result;

/// Bins of a marginal.
const BINS: usize = 40;
/// Cells of a pair's density to each side.
const CELLS: usize = 44;

/// The density of the points in equal bins over the window, in places of the axis.
pub fn histogram(axis: &Axis, points: &[f64]) -> Vec<f64> {
    let width = (axis.high - axis.low) / BINS as f64;
    let mut out = vec![0.0; BINS];
    for &x in points {
        let place = axis.place(x);
        if axis.holds(place) {
            let bin = ((place - axis.low) / width) as usize;
            out[bin.min(BINS - 1)] += 1.0 / (points.len() as f64 * width);
        }
    }
    out
}

/// The outline of a histogram over the window.
pub fn stairs(axis: &Axis, heights: &[f64]) -> Vec<(f64, f64)> {
    let width = (axis.high - axis.low) / heights.len() as f64;
    let ends = |(i, h): (usize, &f64)| {
        let x = axis.low + width * i as f64;
        [(x, *h), (x + width, *h)]
    };
    heights.iter().enumerate().flat_map(ends).collect()
}

/// The same, closed along its foot.
pub fn filled(axis: &Axis, heights: &[f64]) -> Vec<(f64, f64)> {
    let mut out = vec![(axis.low, 0.0)];
    out.extend(stairs(axis, heights));
    out.push((axis.high, 0.0));
    out
}

/// A ring of places.
pub type Ring = Vec<(f64, f64)>;

/// The regions of highest density that hold these parts of the mass, each as its rings.
pub fn regions(x: (&Axis, &[f64]), y: (&Axis, &[f64]), parts: &[f64]) -> Result<Vec<Vec<Ring>>> {
    let mut cells = vec![0.0; CELLS * CELLS];
    let cell = |axis: &Axis, x: f64| {
        let part = (axis.place(x) - axis.low) / (axis.high - axis.low);
        let cell = (part * CELLS as f64).floor();
        (0.0..CELLS as f64).contains(&cell).then_some(cell as usize)
    };
    for (&a, &b) in x.1.iter().zip(y.1) {
        if let (Some(i), Some(j)) = (cell(x.0, a), cell(y.0, b)) {
            cells[j * CELLS + i] += 1.0;
        }
    }
    let smooth = blurred(&blurred(&cells, 1), CELLS);
    let levels = levels(&smooth, parts);
    // A frame of nothing around the cells closes every ring inside the window.
    let side = CELLS + 2;
    let mut framed = vec![0.0; side * side];
    for j in 0..CELLS {
        for i in 0..CELLS {
            framed[(j + 1) * side + i + 1] = smooth[j * CELLS + i];
        }
    }
    let made = ContourBuilder::new(side, side, true)
        .contours(&framed, &levels)
        .map_err(crate::figure::drawing)?;
    // The builder puts the centre of cell (i, j) at (i + 1/2, j + 1/2).
    let place = |axis: &Axis, at: f64| {
        let part = ((at - 1.0) / CELLS as f64).clamp(0.0, 1.0);
        axis.low + part * (axis.high - axis.low)
    };
    let ring = |ring: &LineString| -> Ring {
        let points = ring.coords();
        points.map(|c| (place(x.0, c.x), place(y.0, c.y))).collect()
    };
    // A hole runs the other way round. A way to it and back makes one ring of a region with holes.
    let region = |contour: &contour::Contour| -> Vec<Ring> {
        let with_holes = |polygon: &Polygon| {
            let mut path = ring(polygon.exterior());
            let start = path.first().copied();
            for hole in polygon.interiors() {
                path.extend(ring(hole));
                path.extend(start);
            }
            path
        };
        contour.geometry().iter().map(with_holes).collect()
    };
    Ok(made.iter().map(region).collect())
}

/// Blurred along one direction of the square by a binomial of five, whose sd is one cell.
fn blurred(cells: &[f64], stride: usize) -> Vec<f64> {
    const WEIGHTS: [f64; 5] = [1.0 / 16.0, 4.0 / 16.0, 6.0 / 16.0, 4.0 / 16.0, 1.0 / 16.0];
    let mut out = vec![0.0; cells.len()];
    for (at, out) in out.iter_mut().enumerate() {
        let along = at / stride % CELLS;
        for (k, weight) in WEIGHTS.iter().enumerate() {
            let Some(from) = (along + k).checked_sub(2).filter(|&i| i < CELLS) else {
                continue;
            };
            *out += weight * cells[at + from * stride - along * stride];
        }
    }
    out
}

/// The densities above which these parts of the mass lie.
fn levels(cells: &[f64], parts: &[f64]) -> Vec<f64> {
    let mut heights: Vec<f64> = cells.to_vec();
    heights.sort_by(|a, b| b.total_cmp(a));
    let total: f64 = heights.iter().sum();
    let level = |part: &f64| {
        let mut inside = 0.0;
        for height in &heights {
            inside += height;
            if inside >= part * total {
                return *height;
            }
        }
        0.0
    };
    parts.iter().map(level).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit() -> Axis {
        Axis {
            is_log: false,
            low: 0.0,
            high: 1.0,
        }
    }

    #[test]
    fn a_histogram_is_a_density() {
        let points: Vec<f64> = (0..1000).map(|i| (f64::from(i) + 0.5) / 1000.0).collect();
        let heights = histogram(&unit(), &points);
        assert!(heights.iter().all(|h| (h - 1.0).abs() < 1e-9));
    }

    #[test]
    fn levels_hold_their_part_of_the_mass() {
        let cells = [4.0, 3.0, 2.0, 1.0];
        assert_eq!(levels(&cells, &[0.9, 0.5]), [2.0, 3.0]);
    }

    #[test]
    fn a_region_of_a_square_of_points_has_its_area() {
        // A uniform law on [0.25, 0.75]^2: half of the mass is on half of its area.
        let side: Vec<f64> = (0..100)
            .map(|i| 0.25 + 0.005 * (f64::from(i) + 0.5))
            .collect();
        let x: Vec<f64> = (0..10_000).map(|k| side[k % 100]).collect();
        let y: Vec<f64> = (0..10_000).map(|k| side[k / 100]).collect();
        let axis = unit();
        let found = regions((&axis, &x), (&axis, &y), &[0.95]).unwrap();
        let area: f64 = found[0].iter().map(area).sum::<f64>().abs();
        assert!((area - 0.25).abs() < 0.03, "{area}");
    }

    #[test]
    fn a_hole_is_no_part_of_a_region() {
        let turn = |k: usize| std::f64::consts::TAU * k as f64 / 5000.0;
        let x: Vec<f64> = (0..5000).map(|k| 0.5 + 0.3 * turn(k).cos()).collect();
        let y: Vec<f64> = (0..5000).map(|k| 0.5 + 0.3 * turn(k).sin()).collect();
        let axis = unit();
        let found = regions((&axis, &x), (&axis, &y), &[0.95]).unwrap();
        let area: f64 = found[0].iter().map(area).sum::<f64>().abs();
        // The disc would have 0.28; a ring three cells wide has about 0.13.
        assert!(area < 0.2, "{area}");
    }

    fn area(ring: &Ring) -> f64 {
        let pairs = ring.iter().zip(ring.iter().cycle().skip(1));
        0.5 * pairs.map(|(a, b)| a.0 * b.1 - b.0 * a.1).sum::<f64>()
    }
}
