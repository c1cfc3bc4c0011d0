//! Begin a climb elsewhere than at the prior's centre, with steps that are known, or once more.

use super::Climb;

impl Climb {
    /// Begin here in place of the prior's centre.
    pub(in crate::engine) fn start_at(&mut self, z: Vec<f64>) {
        self.awaited = Some(self.parameters.within(z));
    }

    /// Begin with the steps of a peak with these sds along the parameters, and with some of them:
    /// with those that are known best, since the width of the noise follows from the others.
    pub(in crate::engine) fn start_near(&mut self, sds: &[f64], first: &[usize]) {
        self.set_sds(sds);
        self.order.sort_by(|a, b| sds[*a].total_cmp(&sds[*b]));
        self.order.sort_by_key(|axis| !first.contains(axis));
    }

    /// The steps along the parameters are those of a peak with these sds.
    fn set_sds(&mut self, sds: &[f64]) {
        let drop_sds = (2.0 * self.settings.drop_nats).sqrt();
        let steps: Vec<f64> = sds.iter().map(|sd| drop_sds * sd).collect();
        self.set_steps(Some(&steps));
    }

    /// Begin with these steps along the parameters.
    pub(in crate::engine) fn set_steps(&mut self, steps: Option<&[f64]>) {
        if let Some(steps) = steps {
            self.hinted = true;
            self.steps = steps.iter().map(|s| s.clamp(1e-12, 2.0)).collect();
        }
    }

    /// Go on from the best observation of a peak with these sds along the parameters.
    pub(in crate::engine) fn resume(&mut self, sds: &[f64]) {
        self.set_sds(sds);
        self.covariance = None;
        (self.idle_searches, self.idle_tops, self.confirmed) = (0, 0, 0);
        self.begin_steps();
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::climb;

    #[test]
    fn near_a_peak_the_parameters_that_it_knows_best_come_first() {
        let mut climb = climb(4);
        climb.start_near(&[0.1, 0.01, 0.5, 0.02], &[2, 0, 3]);
        assert_eq!(climb.order, [3, 0, 2, 1]);
        assert_eq!(
            climb.steps[3],
            0.02 * (2.0 * climb.settings.drop_nats).sqrt()
        );
    }
}
