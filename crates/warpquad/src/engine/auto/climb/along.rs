//! Say where a line of a climb goes: along a parameter, or in a direction.

/// Where a line goes.
#[derive(Debug, Clone)]
pub(super) enum Along {
    /// Along a parameter, in its score.
    Axis(usize),
    /// In a direction, which is a step of length 1.
    Direction(Vec<f64>),
}

impl Along {
    /// The point after a step from an origin.
    pub fn point(&self, origin: &[f64], step: f64) -> Vec<f64> {
        let mut z = origin.to_vec();
        match self {
            Along::Axis(axis) => z[*axis] += step,
            Along::Direction(by) => z.iter_mut().zip(by).for_each(|(z, by)| *z += step * by),
        }
        z
    }

    /// The step to a point on the line; `None` for a point that is not, where lengths are measured
    /// by `steps`.
    pub fn step_to(&self, origin: &[f64], z: &[f64], steps: &[f64]) -> Option<f64> {
        let step = match self {
            Along::Axis(axis) => z[*axis] - origin[*axis],
            Along::Direction(by) => {
                let largest = (0..by.len()).max_by(|&i, &j| by[i].abs().total_cmp(&by[j].abs()))?;
                (z[largest] - origin[largest]) / by[largest]
            }
        };
        let near = self.point(origin, step);
        let mut off = near.iter().zip(z).zip(steps);
        off.all(|((a, b), s)| (a - b).abs() < 1e-9 * s)
            .then_some(step)
    }
}
