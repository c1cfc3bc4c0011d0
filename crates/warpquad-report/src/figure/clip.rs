//! Cut lines and areas at the lower and the upper edge of a window.

type Point = (f64, f64);

/// The parts of a line that lie within the window, each ending where the line crosses an edge.
pub fn line(points: &[Point], low: f64, high: f64) -> Vec<Vec<Point>> {
    let mut parts: Vec<Vec<Point>> = Vec::new();
    for pair in points.windows(2) {
        let Some([from, to]) = segment([pair[0], pair[1]], low, high) else {
            continue;
        };
        match parts.last_mut() {
            Some(part) if part.last() == Some(&from) => part.push(to),
            _ => parts.push(vec![from, to]),
        }
    }
    parts
}

/// The part of a segment within the window.
fn segment([a, b]: [Point; 2], low: f64, high: f64) -> Option<[Point; 2]> {
    let is_above = a.1 > high && b.1 > high;
    let is_below = a.1 < low && b.1 < low;
    (!is_above && !is_below).then(|| {
        let cut = |from: Point, to: Point| match from.1.clamp(low, high) {
            edge if edge == from.1 => from,
            edge => (across(from, to, edge), edge),
        };
        [cut(a, b), cut(b, a)]
    })
}

/// Where a segment has this height.
fn across(a: Point, b: Point, height: f64) -> f64 {
    a.0 + (b.0 - a.0) * (height - a.1) / (b.1 - a.1)
}

/// The part of a polygon within the window; empty if there is none.
pub fn polygon(corners: &[Point], low: f64, high: f64) -> Vec<Point> {
    let below = half(corners, high, |y| y <= high);
    half(&below, low, |y| y >= low)
}

/// The part of a polygon on one side of a level.
fn half(corners: &[Point], edge: f64, is_inside: impl Fn(f64) -> bool) -> Vec<Point> {
    let mut out = Vec::new();
    for (k, &to) in corners.iter().enumerate() {
        let from = corners[(k + corners.len() - 1) % corners.len()];
        if is_inside(from.1) != is_inside(to.1) {
            out.push((across(from, to, edge), edge));
        }
        if is_inside(to.1) {
            out.push(to);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_ends_where_it_leaves_the_window() {
        let zigzag = [(0.0, 4.0), (2.0, 0.0), (4.0, -4.0), (8.0, 0.0)];
        let want = vec![
            vec![(1.5, 1.0), (2.0, 0.0), (2.5, -1.0)],
            vec![(7.0, -1.0), (8.0, 0.0)],
        ];
        assert_eq!(line(&zigzag, -1.0, 1.0), want);
        assert!(line(&[(0.0, 5.0), (1.0, 5.0)], -1.0, 1.0).is_empty());
    }

    #[test]
    fn a_line_right_through_the_window_is_cut_at_both_ends() {
        assert_eq!(
            line(&[(0.0, -2.0), (4.0, 2.0)], -1.0, 1.0),
            [[(1.0, -1.0), (3.0, 1.0)]]
        );
    }

    #[test]
    fn an_area_is_cut_along_the_edges() {
        let triangle = [(0.0, -2.0), (4.0, 2.0), (0.0, 2.0)];
        let cut = polygon(&triangle, -1.0, 1.0);
        assert_eq!(cut, [(0.0, 1.0), (0.0, -1.0), (1.0, -1.0), (3.0, 1.0)]);
        assert!(polygon(&triangle, 3.0, 4.0).is_empty());
    }
}
