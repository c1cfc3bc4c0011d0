//! Hold every number that `auto` decides by, with its unit and its evidence.

use crate::error::{Error, Result};

/// What a field of [`Tuning`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Its name: what users write.
    pub name: &'static str,
    /// The unit.
    pub unit: &'static str,
    /// The section of `benchmarks/TUNING.md` that has its evidence.
    pub evidence: &'static str,
    /// What it is.
    pub summary: &'static str,
}

/// A type that a field may have: numbers in, numbers out.
trait Numbers: Sized {
    fn read(numbers: &[f64]) -> std::result::Result<Self, String>;
    fn write(&self) -> Vec<f64>;
}

impl Numbers for f64 {
    fn read(numbers: &[f64]) -> std::result::Result<f64, String> {
        match numbers {
            [x] if x.is_finite() && *x >= 0.0 => Ok(*x),
            _ => Err(format!("must be one number, 0 or more, got {numbers:?}")),
        }
    }

    fn write(&self) -> Vec<f64> {
        vec![*self]
    }
}

/// More of anything would not fit into memory.
const MOST: f64 = 1e7;

impl Numbers for usize {
    fn read(numbers: &[f64]) -> std::result::Result<usize, String> {
        match numbers {
            [x] if (1.0..=MOST).contains(x) && x.fract() == 0.0 => Ok(*x as usize),
            _ => Err(format!(
                "must be one whole number from 1 to {MOST}, got {numbers:?}"
            )),
        }
    }

    fn write(&self) -> Vec<f64> {
        vec![*self as f64]
    }
}

impl Numbers for Vec<f64> {
    fn read(numbers: &[f64]) -> std::result::Result<Vec<f64>, String> {
        let fine = |x: &f64| x.is_finite() && *x > 0.0;
        match !numbers.is_empty() && numbers.iter().all(fine) {
            true => Ok(numbers.to_vec()),
            false => Err(format!("must be positive numbers, got {numbers:?}")),
        }
    }

    fn write(&self) -> Vec<f64> {
        self.clone()
    }
}

/// Declare the struct, its defaults and the table of its fields at once.
macro_rules! tuning {
    ($($evidence:literal { $($(#[doc = $doc:literal])+ $name:ident: $type:ty = $default:expr, $unit:literal;)+ })+) => {
        /// Every number that `auto` decides by.
        ///
        /// Each field has its unit and the section of `benchmarks/TUNING.md` with its evidence in
        /// [`Tuning::FIELDS`]. Fields are for experiments: their names and meanings may change.
        ///
        /// ```
        /// use warpquad::engine::Tuning;
        /// let mut tuning = Tuning::default();
        /// tuning.set("tails_sd", &[1.0, 2.0])?;
        /// assert_eq!(tuning.tails_sd, [1.0, 2.0]);
        /// assert!(tuning.set("tail_sd", &[1.0]).unwrap_err().to_string().contains("tails_sd"));
        /// # Ok::<(), warpquad::Error>(())
        /// ```
        #[derive(Debug, Clone, PartialEq)]
        pub struct Tuning {
            $($($(#[doc = $doc])+ pub $name: $type,)+)+
        }

        impl Default for Tuning {
            fn default() -> Tuning {
                Tuning { $($($name: $default,)+)+ }
            }
        }

        impl Tuning {
            /// All fields.
            pub const FIELDS: &'static [Field] = &[
                $($(Field {
                    name: stringify!($name),
                    unit: $unit,
                    evidence: $evidence,
                    summary: concat!($($doc),+),
                },)+)+
            ];

            /// Set a field; an unknown one is an error that lists all.
            pub fn set(&mut self, name: &str, numbers: &[f64]) -> Result<()> {
                let field = || format!("tuning.{name}");
                match name {
                    $($(stringify!($name) => {
                        let read = <$type as Numbers>::read(numbers);
                        self.$name = read.map_err(|reason| Error::spec(field(), reason))?;
                    })+)+
                    _ => {
                        let names: Vec<&str> = Tuning::FIELDS.iter().map(|f| f.name).collect();
                        let reason = format!(
                            "unknown field '{name}'; the fields are {}",
                            names.join(", ")
                        );
                        return Err(Error::spec("tuning", reason));
                    }
                }
                Ok(())
            }

            /// The numbers of a field; `None` if there is no such field.
            pub fn get(&self, name: &str) -> Option<Vec<f64>> {
                match name {
                    $($(stringify!($name) => Some(self.$name.write()),)+)+
                    _ => None,
                }
            }
        }
    };
}

tuning! {
    "Units" {
        /// A choice may expect f to be so far above the largest observation.
        choice_headroom_nats: f64 = 30.0, "nats";
        /// The answer always allows f to be so far above the largest observation.
        least_headroom_nats: f64 = 3.0, "nats";
        /// Observations so far below the largest count as no lower, in 1, 2, 3 and more dimensions.
        floor_nats: Vec<f64> = vec![300.0, 300.0, 100.0, 60.0], "nats, by dimension";
        /// The floor is at least so low: what lies below adds e^-20 to Z at most.
        floor_base_nats: f64 = 20.0, "nats";
        /// The floor is so much lower for each parameter: a peak a thousandth of the prior wide.
        floor_nats_per_dimension: f64 = 7.0, "nats";
        /// So many of the largest observations for each parameter, and one more, are above the
        /// floor.
        above_floor_per_dimension: usize = 3, "observations";
        /// Variance on g that keeps smooth kernels of close points invertible.
        nugget: f64 = 1e-6, "squared nats";
    }
    "Saturation" {
        /// Where the warp may saturate, shortest first.
        taus_nats: Vec<f64> = vec![3.0, 10.0, 30.0, 100.0, 300.0], "nats";
        /// The one that is fitted first.
        first_tau_nats: f64 = 10.0, "nats";
        /// Beyond this one g is ln f nearly as it is.
        plain_tau_nats: f64 = 30.0, "nats";
        /// Warps beyond it are tried up to so many dimensions.
        plain_dimensions: usize = 2, "dimensions";
        /// What such a warp must gain with each observation that is left out.
        plain_gain_nats: f64 = 0.5, "nats an observation";
        /// To be taken up, it must gain where f is asked for to this part of itself.
        plain_part: f64 = 0.1, "part of f";
        /// Under noise a warp saturates no sooner than so many times its variance.
        noise_taus: f64 = 3.0, "nats a squared nat";
    }
    "Saturation: who judges" {
        /// Observations so far below the largest do not judge models.
        judged_nats: f64 = 15.0, "nats";
        /// So many of the largest for each parameter, and one more, judge in any case.
        judges_per_dimension: usize = 2, "observations";
    }
    "Axes" {
        /// Nodes that the gradient of g is averaged over.
        axes_nodes: usize = 256, "nodes";
        /// No axis is longer than so many times the shortest.
        longest_axis: f64 = 1e3, "ratio";
        /// Standard errors by which axes must predict left-out observations better.
        axes_errors: f64 = 1.0, "standard errors";
    }
    "Effects" {
        /// The same with main effects, which are tried from several starts.
        effects_errors: f64 = 2.0, "standard errors";
    }
    "Fit schedule" {
        /// Space-filling points for each dimension before the first fit.
        initial_per_dimension: usize = 4, "points";
        /// Space-filling points before the first fit, at least.
        initial_least: usize = 8, "points";
        /// A fit from all starting points waits for one in so many observations more.
        full_fit_one_in: usize = 8, "observations";
        /// Any fit waits for one in so many observations more.
        fit_one_in: usize = 50, "observations";
        /// From so many observations for each dimension on, fits end earlier.
        sparing_per_dimension: usize = 12, "observations";
        /// ... but not with fewer than this.
        sparing_least: usize = 60, "observations";
        /// ... and always with so many.
        sparing_most: usize = 100, "observations";
        /// Such a fit ends where a step gains less than this part of the ln likelihood.
        sparing_tolerance: f64 = 1e-6, "part of the ln likelihood";
        /// The median of the prior on length scales.
        length_median: f64 = 0.25, "scales of the prior";
        /// Its sd.
        length_sd: f64 = 1.2, "of ln length";
    }
    "Models and weights" {
        /// A model with less weight is left out.
        least_weight: f64 = 0.02, "weight";
        /// Hyperparameters drawn, over all models.
        hyperdraws: usize = 12, "draws";
        /// Bootstraps of the left-out scores.
        bootstraps: usize = 200, "draws";
        /// A mean that falls off joins with so many observations for each of its numbers.
        observations_per_number: usize = 2, "observations";
        /// The square warp joins where no observation is further below the largest.
        square_nats: f64 = 10.0, "nats";
        /// The nugget of the square warp.
        square_nugget: f64 = 1e-8, "squared roots of the largest f";
        /// The nugget of the model that takes observations as exact.
        exact_nugget: f64 = 1e-10, "parts of the variance of g";
    }
    "Widening" {
        /// The models' sds are taken so many times larger: what they are wrong about together.
        shared_widening: f64 = 2.0, "factor";
        /// The earlier law is that of this part of the observations.
        hindsight_part: f64 = 0.75, "part of the observations";
        /// Draws of the earlier law.
        hindsight_draws: usize = 400, "draws";
        /// The earlier law has one node for so many of the present law's.
        hindsight_one_node_in: usize = 4, "nodes";
    }
    "Nodes and law" {
        /// Draws of the law of Z.
        law_draws: usize = 1000, "draws";
        /// Nodes that are drawn jointly.
        joint_nodes: usize = 400, "nodes";
        /// Nodes follow what f reaches at so many sd of g.
        reach_sd: f64 = 1.5, "sd of g";
        /// Boxes replace the nodes where their relative error is smaller.
        box_error: f64 = 1e-4, "part of Z";
        /// Nodes that are kept beside boxes.
        nodes_beside_boxes: usize = 4096, "nodes";
        /// More nodes are taken where their error is a larger part of the sd of ln Z.
        fine_nodes_part: f64 = 0.1, "part of the sd";
        /// So many times as many.
        fine_nodes_factor: usize = 8, "factor";
        /// From so many observations on, models that differ in theta share a surface.
        shared_surface_from: usize = 200, "observations";
    }
    "Choosing" {
        /// The tails of Z are watched at so many sd of g, in turn.
        tails_sd: Vec<f64> = vec![2.0, 5.0, 1.0], "sd of g";
        /// Nodes of the look-ahead for each dimension.
        look_nodes_per_dimension: usize = 64, "nodes";
        /// Nodes of the look-ahead, at least.
        look_nodes_least: usize = 256, "nodes";
        /// Nodes of the look-ahead, at most.
        look_nodes_most: usize = 512, "nodes";
        /// Candidates from the prior; as many of the nodes join them.
        look_candidates: usize = 128, "points";
        /// Gradients that refine the best candidate.
        look_gradients: usize = 10, "evaluations";
    }
    "Where f is positive" {
        /// One choice in so many looks for the edge of a region where f is 0.
        edge_one_in: usize = 3, "choices";
        /// ... where more than this part of Z is in doubt at the edge.
        edge_part: f64 = 0.01, "part of Z";
        /// Nodes that show where the edge matters.
        edge_nodes: usize = 1024, "nodes";
        /// Nodes at which the edge is drawn jointly.
        edge_draws_nodes: usize = 200, "nodes";
        /// What the edge is uncertain about is taken so many times larger.
        edge_widening: f64 = 1.5, "factor";
    }
    "Noise that nobody declared" {
        /// Sds of noise that are tried: each is what the model with the one before is off by.
        suspected_rounds: usize = 4, "fits";
        /// ... while that falls below this part of itself.
        suspected_falls: f64 = 0.9, "part of the sd";
        /// Left-out errors below this are no matter.
        suspected_least_sd: f64 = 0.02, "nats";
        /// Noise is suspected where left-out observations gain so many standard errors ...
        suspected_errors: f64 = 1.0, "standard errors";
        /// ... and so much each.
        suspected_gain_nats: f64 = 0.1, "nats an observation";
        /// Observations before it is looked for.
        suspected_least: usize = 20, "observations";
    }
    "Climb" {
        /// There is a narrow peak where half of the first points are so far below the best, in up
        /// to three dimensions ...
        narrow_nats: f64 = 1000.0, "nats";
        /// ... and by this part of it in five and more, where the best value of a process in the
        /// prior's coordinates still rises late.
        narrow_part_of_many: f64 = 0.15, "part of narrow_nats";
        /// ... or where a parameter is a scale, and the lowest is so many times farther below the
        /// best than half of them are ...
        funnel_ratio: f64 = 30.0, "ratio";
        /// ... and so far at least.
        funnel_nats: f64 = 1000.0, "nats";
        /// What promises less than this is the top.
        climb_tolerance_nats: f64 = 0.3, "nats";
        /// The scale of a parameter is the step after which ln f has fallen by this.
        climb_drop_nats: f64 = 5.0, "nats";
        /// The first step along a parameter is so many times those found along others, at most 1.
        climb_stretch: f64 = 3.0, "factor";
        /// A climb that has waited for fewer evaluations of each parameter has hardly begun.
        climb_begun_per_dimension: usize = 20, "evaluations";
        /// Parameters are searched in turn again while a round gains more than this for each.
        climb_round_nats: f64 = 40.0, "nats";
    }
    "Frames" {
        /// The first frame is so many times as wide as the climb knows the peak.
        first_frame_widening: f64 = 1.3, "factor";
        /// Later ones are so many times as wide as the posterior.
        frame_widening: f64 = 1.3, "factor";
        /// A frame takes observations up to so many sd, and the root of the dimension, away.
        frame_reach_sd: f64 = 4.0, "sd of the frame";
        /// A frame is looked at again after so many observations for each parameter, and for two
        /// more.
        round_per_dimension: usize = 3, "observations";
    }
    "Exploring" {
        /// A choice at u sd explores where the tails are less than u times this part of Z apart.
        settled_part: f64 = 0.05, "part of Z, for each sd";
        /// Exploring looks at so many sd of g.
        exploring_sd: f64 = 5.0, "sd of g";
        /// The exploring model has so many times its lengths now and then: a mode may be narrower
        /// than those that are known ...
        exploring_shorter: f64 = 0.2, "factor";
        /// ... in one cycle of choices out of so many ...
        exploring_shorter_one_in: usize = 2, "cycles";
        /// ... from so many dimensions on: in fewer the points leave little room.
        exploring_shorter_dimensions: usize = 3, "dimensions";
        /// The exploring model is fitted once in so many observations at first.
        exploring_fit_every: usize = 10, "observations";
        /// ... and later once in this part of them.
        exploring_fit_one_in: usize = 8, "observations";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_can_be_read_and_set_to_what_it_is() {
        let (plain, mut other) = (Tuning::default(), Tuning::default());
        for field in Tuning::FIELDS {
            let numbers = plain.get(field.name).unwrap();
            other.set(field.name, &numbers).unwrap();
            assert!(!field.unit.is_empty() && !field.summary.is_empty());
        }
        assert_eq!(other, plain);
        assert_eq!(plain.get("nothing"), None);
    }

    #[test]
    fn bad_values_and_names_are_refused() {
        let mut tuning = Tuning::default();
        let reason = |result: Result<()>| result.unwrap_err().to_string();
        let unknown = reason(tuning.set("nodes_joint", &[1.0]));
        assert!(unknown.contains("joint_nodes"), "{unknown}");
        for bad in [-1.0, 0.5, 0.0, f64::NAN, 1e300] {
            assert!(reason(tuning.set("joint_nodes", &[bad])).contains("whole number"));
        }
        assert!(reason(tuning.set("reach_sd", &[1.0, 2.0])).contains("one number"));
        assert!(reason(tuning.set("taus_nats", &[])).contains("positive"));
        assert_eq!(tuning, Tuning::default());
    }

    #[test]
    fn every_field_names_a_section_of_the_evidence() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../benchmarks/TUNING.md");
        let text = std::fs::read_to_string(path).unwrap();
        for field in Tuning::FIELDS {
            let heading = format!("## {}", field.evidence);
            assert!(text.contains(&heading), "TUNING.md has no '{heading}'");
        }
    }
}
