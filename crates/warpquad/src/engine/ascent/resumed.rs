//! Climb on where frames found a higher value than the climb that led to them.

use super::Ascent;
use super::again::is_within;
use super::vague::highest;
use crate::engine::auto::Climb;
use crate::engine::{Peak, TakenFrame};
use crate::points::Points;

/// A climb goes on from a value so many nats above its top, and so many sds of the noise more.
const HIGHER_NATS: f64 = 2.0;
const HIGHER_NOISES: f64 = 4.0;
/// A climb that went on led nowhere if it rose by less than this, in nats.
const LEAST_RISE_NATS: f64 = 0.5;
/// Observations for each parameter, and for one more, after which it ends.
const MOST_PER_DIMENSION: usize = 15;

/// A climb that goes on from inside a frame.
#[derive(Debug, Clone)]
pub(super) struct Resumed {
    /// The number of the peak.
    component: usize,
    climb: Climb,
    /// The value that it began at, and the top that it began above.
    from: f64,
    above: f64,
    /// The observations that have come since.
    spent: usize,
    /// The number of observations when it ended.
    ended: Option<usize>,
}

/// A value in the frame of a peak that is higher than the top of its climb.
struct Rise<'a> {
    component: usize,
    climb: &'a Climb,
    peak: &'a Peak,
    /// The first observation that the climb does not know of.
    since: usize,
    from: f64,
    above: f64,
}

impl Resumed {
    /// The point whose value it waits for; `None` once it has ended.
    fn awaited(&self) -> Option<&[f64]> {
        self.climb.awaited().filter(|_| self.ended.is_none())
    }

    /// Take a step with an observation, when there are `n` of them.
    fn step(&mut self, n: usize, with: impl FnOnce(&mut Climb)) {
        with(&mut self.climb);
        self.spent += 1;
        self.check(n);
    }

    /// Decide whether it has ended, with `n` observations.
    fn check(&mut self, n: usize) {
        let most = MOST_PER_DIMENSION * (self.climb.dim() + 1);
        if self.climb.has_ended() || self.spent >= most {
            self.ended = self.ended.or(Some(n));
        }
    }

    fn height(&self) -> f64 {
        self.climb.best().map_or(f64::NEG_INFINITY, |best| best.1)
    }
}

impl Ascent {
    /// The climb that goes on from inside a frame, while it is under way.
    pub(super) fn resumed(&self) -> Option<&Resumed> {
        self.resumed.last().filter(|last| last.ended.is_none())
    }

    /// Whether a climb goes on from inside a frame.
    pub fn is_resumed(&self) -> bool {
        self.resumed().is_some()
    }

    /// How far the climb that goes on has risen above the top before, in nats.
    pub fn resumed_nats(&self) -> Option<f64> {
        self.resumed().map(|last| last.height() - last.above)
    }

    /// The latest climb to a peak that has ended.
    pub(super) fn latest_climb(&self, component: usize) -> Option<&Climb> {
        let own = |resumed: &&Resumed| resumed.component == component && resumed.ended.is_some();
        let resumed = self.resumed.iter().rfind(own).map(|last| &last.climb);
        match component {
            0 => resumed.or_else(|| self.climb()),
            _ => resumed.or_else(|| self.climb_again(component)),
        }
    }

    /// The further climb that found a peak.
    fn climb_again(&self, component: usize) -> Option<&Climb> {
        let first = self.of(component).next()?;
        let mut again = self.again.iter();
        let is_own = |center: &[f64]| center == first.peak.center();
        let own = again.find(|again| again.found().is_some_and(|peak| is_own(&peak.center)));
        own.map(|again| again.climb())
    }

    /// Once frames hold a value above the top of the climb, go on from there.
    pub(super) fn begin_resumed(&mut self) {
        if self.is_resumed() || self.images().is_none() {
            return;
        }
        let n = self.values.len();
        let known = self.known_frames(n - 1);
        let risen = (0..self.components()).filter_map(|component| self.risen(component, known));
        let nats = |rise: &Rise<'_>| rise.from - rise.above;
        let Some(rise) = risen.max_by(|a, b| nats(a).total_cmp(&nats(b))) else {
            return;
        };
        let mut climb = rise.climb.clone();
        for i in self.in_frame(rise.peak, rise.since) {
            climb.tell(&self.points[i], self.values[i], false);
        }
        climb.resume(&rise.peak.conditional_sds());
        let mut resumed = Resumed {
            component: rise.component,
            climb,
            from: rise.from,
            above: rise.above,
            spent: 0,
            ended: None,
        };
        resumed.check(n);
        self.resumed.push(resumed);
    }

    /// The observations from this one on that a peak's frame holds.
    fn in_frame(&self, peak: &Peak, since: usize) -> impl Iterator<Item = usize> {
        let holds = |i: &usize| is_within(peak, &self.points[*i], self.reach());
        (since..self.values.len()).filter(holds)
    }

    /// The best observation in the frame of a peak, if it is above the top of its climb and is one
    /// of enough in the frame.
    fn risen<'a>(&'a self, component: usize, known: &'a [TakenFrame]) -> Option<Rise<'a>> {
        let own = self.resumed.iter().rfind(|one| one.component == component);
        if own.is_some_and(|last| last.height() - last.from < LEAST_RISE_NATS) {
            return None;
        }
        let mut frames = known.iter().filter(|frame| frame.component == component);
        let first = frames.next()?;
        let peak = &frames.next_back().unwrap_or(first).peak;
        let since = own.and_then(|last| last.ended).unwrap_or(first.n);
        let inside = || self.in_frame(peak, since);
        let best = highest(inside().map(|i| self.values[i]));
        let climb = self.latest_climb(component)?;
        let (_, top) = climb.best()?;
        let is_enough = inside().count() >= self.free.dim() + 2;
        let least = HIGHER_NATS + HIGHER_NOISES * self.noise_sd;
        (is_enough && best > top + least).then_some(Rise {
            component,
            climb,
            peak,
            since,
            from: best,
            above: top,
        })
    }

    /// Hand the climb that goes on an observation.
    pub(super) fn tell_resumed(&mut self, x: &[f64], z: &[f64], value: f64) {
        let awaited = self.resumed().and_then(Resumed::awaited);
        let awaited = awaited.filter(|z| self.free.point_from_frame(z) == x);
        let (is_awaited, z) = (awaited.is_some(), awaited.unwrap_or(z).to_vec());
        let n = self.values.len();
        if let Some(last) = self.resumed.last_mut().filter(|last| last.ended.is_none()) {
            last.step(n, |climb| climb.tell(&z, value, is_awaited));
        }
    }

    /// The awaited evaluation of the climb that goes on has failed.
    pub(super) fn fail_resumed(&mut self, failed: &Points) {
        let n = self.values.len();
        while let Some(z) = self.resumed().and_then(Resumed::awaited)
            && failed.iter().any(|x| self.free.point_from_frame(z) == x)
            && let Some(last) = self.resumed.last_mut()
        {
            last.step(n, Climb::fail);
        }
    }

    /// Hand the climb that goes on a value that it waits for and that is known already.
    pub(super) fn reuse_resumed(&mut self) {
        let n = self.values.len();
        while let Some(value) = self
            .resumed()
            .and_then(Resumed::awaited)
            .and_then(|z| self.known(z))
            && let Some(last) = self.resumed.last_mut()
        {
            last.step(n, |climb| climb.reuse(value));
        }
    }

    /// The next point of the climb that goes on.
    pub(super) fn ask_resumed(&self, pending: &Points) -> Option<Vec<f64>> {
        self.ask_climb(&self.resumed()?.climb, pending)
    }

    /// The peak that a climb which went on has found, and its number, before it has its frame.
    pub fn resumed_peak(&self) -> Option<(usize, Peak)> {
        let last = self.resumed.last().filter(|last| last.ended.is_some())?;
        let (center, covariance) = last.climb.shape()?;
        let mut frames = self.of(last.component).filter(|frame| frame.is_resumed);
        if frames.any(|frame| frame.peak.center() == center) {
            return None;
        }
        Some((last.component, self.widened(center, covariance)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Value;
    use crate::measure::{Product, univariate};
    use crate::numeric::random::Rng;

    const DIM: usize = 4;
    /// A peak, and a narrower and higher one on its flank.
    const BROAD: [f64; DIM] = [0.5; DIM];
    const NARROW: [f64; DIM] = [0.52, 0.52, 0.48, 0.52];

    fn ln_f(x: &[f64]) -> f64 {
        let squares = |center: &[f64]| -> f64 {
            let apart = x.iter().zip(center).map(|(x, c)| (x - c).powi(2));
            apart.sum::<f64>()
        };
        let broad = -0.5 * squares(&BROAD) / 0.01_f64.powi(2);
        broad.max(8.0 - 0.5 * squares(&NARROW) / 0.004_f64.powi(2))
    }

    /// What an ascent sees of f.
    struct Seen {
        ascent: Ascent,
        points: Points,
        values: Vec<Value>,
    }

    impl Seen {
        fn tell(&mut self, x: &[f64], is_design: bool) {
            self.points.push(x).unwrap();
            self.values.push(Value::Log(ln_f(x)));
            let none = Points::empty(DIM).unwrap();
            let of_design = |_: usize| is_design;
            let (points, values) = (&self.points, &self.values);
            self.ascent.see(points, values, &of_design, &none).unwrap();
        }

        fn follow(&mut self, is_done: impl Fn(&Ascent) -> bool) {
            let none = Points::empty(DIM).unwrap();
            for _ in 0..400 {
                if is_done(&self.ascent) {
                    return;
                }
                let x = self.ascent.ask(&none).unwrap();
                self.tell(&x, false);
            }
            panic!("the climb has not ended");
        }
    }

    #[test]
    fn a_climb_goes_on_from_a_higher_value_in_its_frame() {
        let law = || univariate("normal", &[0.0, 3.0]).unwrap();
        let prior = Product::new((0..DIM).map(|_| law()).collect()).unwrap();
        let mut seen = Seen {
            ascent: Ascent::new(&prior, &Default::default(), 0).unwrap(),
            points: Points::empty(DIM).unwrap(),
            values: Vec::new(),
        };
        let mut rng = Rng::new(1);
        for _ in 0..12 {
            let x: Vec<f64> = (0..DIM).map(|_| 3.0 * rng.normal()).collect();
            seen.tell(&x, true);
        }
        seen.follow(Ascent::has_arrived);
        let (component, is_resumed) = (0, false);
        let (n, peak) = (seen.values.len(), seen.ascent.first_peak().unwrap());
        let frame = TakenFrame {
            n,
            component,
            is_resumed,
            peak,
        };
        seen.ascent.keep(frame, n);
        for _ in 0..DIM + 2 {
            let x: Vec<f64> = BROAD.iter().map(|c| c + 0.005 * rng.normal()).collect();
            seen.tell(&x, false);
        }
        assert!(!seen.ascent.is_resumed() && seen.ascent.resumed_peak().is_none());
        seen.tell(&[0.514, 0.52, 0.483, 0.523], false);
        assert!(seen.ascent.is_resumed() && seen.ascent.resumed_nats().unwrap() > 2.0);
        seen.follow(|ascent| ascent.resumed_peak().is_some());
        let (component, peak) = seen.ascent.resumed_peak().unwrap();
        let top = seen.ascent.free.point_from_frame(peak.center());
        let apart = top.iter().zip(NARROW).map(|(x, c)| (x - c).abs());
        assert_eq!(component, 0);
        assert!(apart.fold(0.0, f64::max) < 1e-3, "{top:?}");
    }
}
