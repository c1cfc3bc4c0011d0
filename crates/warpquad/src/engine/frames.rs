//! Take frames as peaks are found, renew them in rounds, and choose which of them the next point is
//! for.

use super::ascent::{self, Ascent};
use super::auto::Climb;
use super::part::Part;
use super::{Engine, Frame, History, TakenFrame};
use crate::error::{Error, Result};
use crate::points::Points;
use std::sync::Arc;

/// Whether the next point of a frame with so many evaluations is still a space-filling one.
pub(super) fn is_early(evaluations: usize, dim: usize) -> bool {
    evaluations < dim + 2
}

impl Engine {
    /// Follow the climbs, and take the frame of a peak when it is found.
    pub(super) fn look_around(&mut self, failed: &Points) -> Result<()> {
        let n = self.len();
        let Some(ascent) = &mut self.ascent else {
            return Ok(());
        };
        let is_design = |place: usize| self.given.stands_for_design(place);
        ascent.see(&self.points, &self.whole.seen.values, &is_design, failed)?;
        if self.provisional.take_if(|then| *then != n).is_some() {
            self.framed.clear();
            self.forget();
        }
        let Some(ascent) = &self.ascent else {
            return Ok(());
        };
        if ascent.has_arrived()
            && ascent.frames().is_empty()
            && let Some(peak) = ascent.first_peak()
        {
            self.take_frame(TakenFrame {
                n,
                component: 0,
                is_resumed: false,
                peak,
            })?;
        }
        let resumed = self.ascent.as_ref().and_then(Ascent::resumed_peak);
        if let Some((component, peak)) = resumed {
            self.take_frame(TakenFrame {
                n,
                component,
                is_resumed: true,
                peak,
            })?;
        }
        let another = self.ascent.as_ref().and_then(Ascent::another_peak);
        match (another, self.components()) {
            (Some(peak), component) => self.take_frame(TakenFrame {
                n,
                component,
                is_resumed: false,
                peak,
            }),
            (None, _) => Ok(()),
        }
    }

    /// Whether a climb from elsewhere has ended; `None` without a frame of a narrow peak.
    pub fn has_looked_elsewhere(&self) -> Option<bool> {
        let ascent = self
            .ascent
            .as_ref()
            .filter(|ascent| !ascent.frames().is_empty())?;
        Some(ascent.has_looked_elsewhere())
    }

    /// Integrate in this frame from now on: in that of a further peak beside the others, or in
    /// place of an earlier frame of its peak.
    pub fn take_frame(&mut self, frame: TakenFrame) -> Result<()> {
        let (at, components) = (self.len(), self.components());
        let Some(ascent) = &mut self.ascent else {
            let reason = "the method of the run, or its prior, has no frames";
            return Err(Error::spec("frame", reason));
        };
        let component = frame.component;
        if component > components {
            let reason = format!("is of peak {component}, and there are {components} so far");
            return Err(Error::spec("frame", reason));
        }
        ascent.keep(frame, at);
        let mut fits: Vec<Vec<_>> = match self.provisional.take() {
            Some(_) => Vec::new(),
            None => self
                .framed
                .iter()
                .map(|part| part.seen.fits.clone())
                .collect(),
        };
        self.frame_all()?;
        self.looked_at.resize(self.framed.len(), 0);
        self.settled.resize(self.framed.len(), false);
        self.settled[component] = false;
        // The others keep their coordinates, and so their fits.
        if let Some(own) = fits.get_mut(component) {
            own.clear();
        }
        for (part, fits) in self.framed.iter_mut().zip(fits) {
            part.seen.fits = fits;
        }
        self.forget();
        Ok(())
    }

    /// Look at all observations in the present frame of each peak.
    pub(super) fn frame_all(&mut self) -> Result<()> {
        let Some(ascent) = &self.ascent else {
            return Ok(());
        };
        let frames = ascent.present_frames()?.into_iter().enumerate();
        let seen: Result<Vec<History>> = frames
            .map(|(component, frame)| self.seen_in(frame, ascent, ascent.begun(component)))
            .collect();
        self.framed = seen?.into_iter().map(Part::new).collect();
        Ok(())
    }

    /// All observations in a frame; `climbed` of them are of the climb to its peak, or earlier.
    fn seen_in(&self, frame: Frame, ascent: &Ascent, climbed: Option<usize>) -> Result<History> {
        let climbed = climbed.unwrap_or(usize::MAX);
        let seen = &self.whole.seen;
        seen.framed(frame, &self.points, ascent.reach(), climbed)
    }

    /// Forget what was worked out in other frames.
    fn forget(&mut self) {
        self.whole.forget();
        self.framed.iter_mut().for_each(Part::forget);
        self.answered = None;
        self.proposal = None;
    }

    /// Before the climb has ended, answer in the frame of the peak as far as it is known.
    pub(super) fn take_provisional_frame(&mut self) -> Result<()> {
        let none = Points::empty(self.points.dim())?;
        self.look_around(&none)?;
        let Some(ascent) = self.ascent.as_ref().filter(|_| self.framed.is_empty()) else {
            return Ok(());
        };
        if let Some(frame) = ascent.provisional_frame()? {
            self.framed = vec![Part::new(self.seen_in(frame, ascent, None)?)];
            self.provisional = Some(self.len());
            self.forget();
        }
        Ok(())
    }

    /// The frames that were taken, in order. Each peak has frames of its own, the last of which
    /// serves.
    pub fn frames(&self) -> &[TakenFrame] {
        self.ascent.as_ref().map_or(&[], |ascent| ascent.frames())
    }

    /// How many peaks have frames.
    pub fn components(&self) -> usize {
        self.ascent.as_ref().map_or(0, |ascent| ascent.components())
    }

    /// Whether a climb is under way to the first peak, or goes on from inside a frame.
    pub fn is_climbing(&self) -> bool {
        let ascent = self.ascent.as_ref();
        let first = self.climb().is_some_and(|climb| !climb.has_ended());
        first || ascent.is_some_and(Ascent::is_resumed)
    }

    /// The numbers of observations that the frames of the first peak rest on, since a climb led to
    /// it.
    pub fn frames_since_climb(&self) -> Vec<usize> {
        let ascent = self.ascent.as_ref();
        ascent.map_or(Vec::new(), |ascent| {
            ascent.since_climb(0).map(|frame| frame.n).collect()
        })
    }

    /// The climb to a narrow peak, if there was one.
    pub fn climb(&self) -> Option<&Climb> {
        self.ascent.as_ref()?.climb()
    }

    /// The present frame of a peak.
    pub(super) fn latest(&self, component: usize) -> Option<&TakenFrame> {
        self.ascent.as_ref()?.latest(component)
    }

    /// The number of observations when a peak was found.
    pub(super) fn begun(&self, component: usize) -> Option<usize> {
        self.ascent.as_ref()?.begun(component)
    }

    /// Once a round look whether each peak has the shape of its frame, and take another frame if
    /// it has not.
    pub(super) fn renew_frames(&mut self) -> Result<()> {
        for component in 0..self.components() {
            self.renew_frame(component)?;
        }
        let all = !self.settled.is_empty() && self.settled.iter().all(|settled| *settled);
        if let Some(ascent) = &mut self.ascent {
            ascent.settle(all);
        }
        Ok(())
    }

    fn renew_frame(&mut self, component: usize) -> Result<()> {
        let n = self.len();
        let Some(ascent) = &self.ascent else {
            return Ok(());
        };
        let due = ascent.round_due(component, n);
        let Some(n) = due.filter(|due| *due > self.looked_at[component]) else {
            return Ok(());
        };
        let mut then = self.first_with(n, Some(ascent.before_look(n, component)))?;
        self.looked_at[component] = n;
        self.settled[component] = false;
        // A frame in which nothing can be fitted is not one to learn a shape from.
        let Ok(Some((points, weights, law))) = then.peak_nodes(component) else {
            return Ok(());
        };
        let ascent = self.ascent.as_ref();
        let next = ascent.and_then(|ascent| ascent.next_peak(component, &points, &weights));
        self.settled[component] = next.is_none() && ascent::is_settled(&law, self.points.dim());
        match next {
            Some(peak) => self.take_frame(TakenFrame {
                n,
                component,
                is_resumed: false,
                peak,
            }),
            None => Ok(()),
        }
    }

    /// Which frame the next point is for: one that is new, or that whose part of Z is known worst.
    pub(super) fn place_of_choice(&mut self, pending: &Points, step: usize) -> Result<usize> {
        let count = self.framed.len();
        if count < 2 {
            return Ok(0);
        }
        let dim = self.points.dim();
        let is_new = |component: &usize| {
            let begun = self.begun(*component);
            begun.is_some_and(|begun| is_early(step - begun, dim))
        };
        if let Some(new) = (0..count).rev().find(is_new) {
            return Ok(new);
        }
        let (n, strategy) = (self.len(), Arc::clone(&self.strategy));
        let mut best = (0, f64::NEG_INFINITY);
        for component in 0..count {
            let unknown = self.unknown_shape_nats(component);
            let part = &mut self.framed[component];
            let Some((law, _)) = part.glance(strategy.as_ref(), n)? else {
                continue;
            };
            let mut here = 0;
            for x in pending.iter() {
                let y = part.seen.frame.point_to_frame(x)?;
                here += usize::from(part.seen.frame.owns(&y));
            }
            let counts = ascent::counts(&law.reaching(unknown), here);
            if counts > best.1 {
                best = (component, counts);
            }
        }
        Ok(best.0)
    }

    /// How far the interval of ln of a peak's part of Z must reach while few evaluations were made
    /// in its frames; 0 without a frame.
    pub(super) fn unknown_shape_nats(&self, component: usize) -> f64 {
        let Some(begun) = self
            .ascent
            .as_ref()
            .and_then(|ascent| ascent.shaped(component))
        else {
            return 0.0;
        };
        let frame = self.framed[component].seen.frame();
        let is_own = |place: &usize| {
            let y = frame.point_to_frame(self.points.row(*place));
            y.is_ok_and(|y| frame.owns(&y))
        };
        let own = (begun..self.len()).filter(is_own).count();
        ascent::unknown_shape_nats(own, self.points.dim())
    }
}
