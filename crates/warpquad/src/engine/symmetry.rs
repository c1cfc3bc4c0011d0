//! Find parameters that may change places: labels of a mixture, two rates of a sum of decays.
//!
//! A model that does not change when labels are swapped has mirrored peaks of one height. A climb
//! finds one of them. So parameters with equal priors are exchanged in a trial evaluation: where f
//! comes out the same, all images of the peak count.

use super::Frame;
use crate::numeric::random::Rng;

/// A map of the prior's free coordinates onto themselves: z'_i = sign_i z_{from_i}.
///
/// ```
/// use warpquad::engine::Image;
/// // Parameters 0 and 1 change places, and the coordinate of parameter 2 its sign.
/// let swap = Image::new(vec![2, 1, -3])?;
/// assert_eq!(swap.apply(&[0.1, 0.2, 0.3]), [0.2, 0.1, -0.3]);
/// assert!(Image::new(vec![1, 1]).is_err());
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// For each parameter the number of the one that it is taken from, counted from 1, with a minus
    /// sign where the coordinate changes its sign.
    from: Vec<i64>,
}

impl Image {
    /// The map that takes parameter i from the parameter `from[i]`, counted from 1; a minus sign
    /// turns its coordinate round.
    pub fn new(from: Vec<i64>) -> crate::Result<Image> {
        let mut seen = vec![false; from.len()];
        for entry in &from {
            match seen.get_mut((entry.unsigned_abs() as usize).wrapping_sub(1)) {
                Some(seen) if !*seen => *seen = true,
                _ => {
                    let reason = format!("{from:?} does not name each parameter once, from 1 on");
                    return Err(crate::Error::spec("image", reason));
                }
            }
        }
        Ok(Image { from })
    }

    /// The map that changes nothing.
    fn identity(dim: usize) -> Image {
        Image {
            from: (1..=dim as i64).collect(),
        }
    }

    /// The entries, as they were given.
    pub fn entries(&self) -> &[i64] {
        &self.from
    }

    /// The image of a point.
    pub fn apply(&self, z: &[f64]) -> Vec<f64> {
        let at = |entry: &i64| entry.signum() as f64 * z[entry.unsigned_abs() as usize - 1];
        self.from.iter().map(at).collect()
    }

    /// First the other, then this one.
    fn after(&self, other: &Image) -> Image {
        let at = |entry: &i64| entry.signum() * other.from[entry.unsigned_abs() as usize - 1];
        Image {
            from: self.from.iter().map(at).collect(),
        }
    }
}

/// More images than this are not looked at one by one: 5 labels have 120.
const MOST_IMAGES: usize = 120;

/// All maps that repeated use of these gives, the one that changes nothing first.
fn closure(generators: &[Image], dim: usize) -> Vec<Image> {
    let mut out = vec![Image::identity(dim)];
    let mut next = 0;
    while next < out.len() && out.len() <= MOST_IMAGES {
        for generator in generators {
            let image = generator.after(&out[next]);
            if !out.contains(&image) {
                out.push(image);
            }
        }
        next += 1;
    }
    out
}

/// No more trial evaluations than this.
const MOST_TRIALS: usize = 6;

/// An exchange that is worth a trial.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Candidate {
    image: Image,
    /// What to try if f comes out the same: all labels of longer groups one place on.
    next: Option<Image>,
}

/// Which exchanges are worth a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// All that parameters with equal priors allow.
    All,
    /// Only those of two and more groups at once, as of labels that have several parameters each.
    Labels,
}

/// The exchanges that are worth a trial, the likeliest first.
///
/// Parameters with one prior are a group. Groups of one size change places together, as the means
/// and the widths of a mixture do, with or without a share p that becomes 1 - p; then each group
/// alone.
fn candidates(scores: &Frame, wanted: Wanted) -> Vec<Candidate> {
    let (groups, symmetric) = groups(scores);
    let dim = scores.dim();
    let exchanged = |groups: &[&Vec<usize>], turned: Option<usize>| {
        let (mut swap, mut cycle) = (Image::identity(dim).from, Image::identity(dim).from);
        for group in groups {
            swap.swap(group[0], group[1]);
            for (k, &at) in group.iter().enumerate() {
                cycle[at] = group[(k + 1) % group.len()] as i64 + 1;
            }
        }
        if let Some(turned) = turned {
            swap[turned] *= -1;
        }
        let longer = groups.iter().all(|group| group.len() > 2) && turned.is_none();
        Candidate {
            image: Image { from: swap },
            next: longer.then_some(Image { from: cycle }),
        }
    };
    let mut sizes: Vec<usize> = groups.iter().map(Vec::len).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let mut out: Vec<Candidate> = Vec::new();
    for size in sizes {
        let same: Vec<&Vec<usize>> = groups.iter().filter(|group| group.len() == size).collect();
        if wanted == Wanted::Labels && same.len() < 2 {
            continue;
        }
        out.push(exchanged(&same, None));
        if size == 2 {
            out.extend(symmetric.iter().map(|&p| exchanged(&same, Some(p))));
        }
        if same.len() > 1 && wanted == Wanted::All {
            out.extend(same.iter().map(|group| exchanged(&[group], None)));
        }
        for group in &same {
            out.extend(of_labels_in_one(group).map(|groups| {
                let groups: Vec<&Vec<usize>> = groups.iter().collect();
                exchanged(&groups, None)
            }));
        }
    }
    out.retain(|candidate| keeps_region(scores, &candidate.image));
    for candidate in &mut out {
        candidate.next = candidate.next.take_if(|image| keeps_region(scores, image));
    }
    out.truncate(MOST_TRIALS);
    out
}

/// The ways to read one group as labels with several parameters each, as groups of their own: a
/// sum of two decays has two rates and two sizes that may all have one prior. The parameters of a
/// label stand side by side, or those of a kind do.
fn of_labels_in_one(group: &[usize]) -> impl Iterator<Item = Vec<Vec<usize>>> + '_ {
    let count = group.len();
    let splits = (2..count).filter(move |labels| count.is_multiple_of(*labels) && count > *labels);
    splits.flat_map(move |labels| {
        let kinds = count / labels;
        let pick = |at: &dyn Fn(usize, usize) -> usize| -> Vec<Vec<usize>> {
            let kind = |k: usize| (0..labels).map(|label| group[at(label, k)]).collect();
            (0..kinds).map(kind).collect()
        };
        [
            pick(&|label, kind| label * kinds + kind),
            pick(&|label, kind| kind * labels + label),
        ]
    })
}

/// Points that show whether a map keeps the region that the prior is restricted to.
const REGION_POINTS: usize = 1000;

/// Whether a map sends the region that the prior is restricted to onto itself: an order of two
/// labels leaves one peak of two.
fn keeps_region(scores: &Frame, image: &Image) -> bool {
    let Some(region) = scores.region() else {
        return true;
    };
    let mut rng = Rng::new(0);
    let mut z = vec![0.0; scores.dim()];
    (0..REGION_POINTS).all(|_| {
        rng.fill_normal(&mut z);
        region.holds(&z) == region.holds(&image.apply(&z))
    })
}

/// Trial evaluations at images of the top of a peak.
#[derive(Debug, Clone)]
pub(super) struct Trials {
    origin: Vec<f64>,
    value: f64,
    /// Two values closer than this are the same.
    tolerance: f64,
    open: Vec<Candidate>,
    found: Vec<Image>,
    /// Where f is not 0 and not what it is at the top, with its values.
    missed: Vec<(Vec<f64>, f64)>,
}

impl Trials {
    /// What is worth a trial at a top with this ln f + ln pi.
    pub fn new(
        scores: &Frame,
        wanted: Wanted,
        (origin, value): (&[f64], f64),
        noise_sd: f64,
    ) -> Trials {
        let mut open = candidates(scores, wanted);
        // An image that hardly moves the point says nothing, and one value of many has noise.
        let moves = |image: &Image| {
            let apart = image.apply(origin);
            apart.iter().zip(origin).any(|(a, b)| (a - b).abs() > 1e-6)
        };
        open.retain(|candidate| noise_sd == 0.0 && moves(&candidate.image));
        Trials {
            origin: origin.to_vec(),
            value,
            tolerance: 1e-8 * (1.0 + value.abs()),
            open,
            found: Vec::new(),
            missed: Vec::new(),
        }
    }

    /// Points whose values are wanted.
    pub fn awaited(&self) -> impl Iterator<Item = Vec<f64>> + '_ {
        let at = |candidate: &Candidate| candidate.image.apply(&self.origin);
        self.open.iter().map(at)
    }

    /// The value of an awaited point, by its place among them; `None` for a failure.
    pub fn tell(&mut self, place: usize, value: Option<f64>) {
        let Candidate { image, next } = self.open.remove(place);
        match value {
            Some(value) if (value - self.value).abs() <= self.tolerance => self.found.push(image),
            Some(value) if value.is_finite() => {
                let place = image.apply(&self.origin);
                self.missed.push((place, value));
                return;
            }
            _ => return,
        }
        let next = next.map(|image| Candidate { image, next: None });
        self.open.extend(next);
    }

    /// The exchanges that are no images, each with its ln f + ln pi: below another peak perhaps.
    pub fn missed(&self) -> &[(Vec<f64>, f64)] {
        &self.missed
    }

    /// All images of the peak that count, itself first; `None` while some are not known.
    pub fn images(&self) -> Option<Vec<Image>> {
        let done = self.open.is_empty();
        done.then(|| closure(&self.found, self.origin.len()))
    }
}

/// Groups of two and more parameters with one prior, and single ones whose prior is symmetric.
fn groups(scores: &Frame) -> (Vec<Vec<usize>>, Vec<usize>) {
    let dim = scores.dim();
    let at = |z: f64| scores.point_from_frame(&vec![z; dim]);
    let table: Vec<Vec<f64>> = [-2.0, -0.7, 0.0, 0.7, 2.0].into_iter().map(at).collect();
    let same = |i: usize, j: usize| table.iter().all(|x| x[i] == x[j]);
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for i in 0..dim {
        match groups.iter_mut().find(|group| same(group[0], i)) {
            Some(group) => group.push(i),
            None => groups.push(vec![i]),
        }
    }
    let (groups, single): (Vec<_>, Vec<_>) = groups.into_iter().partition(|g| g.len() > 1);
    let is_symmetric = |i: usize| {
        let (low, middle, high) = (table[0][i], table[2][i], table[4][i]);
        (low + high - 2.0 * middle).abs() <= 1e-9 * (high - low)
    };
    let single = single.into_iter().map(|group| group[0]);
    (groups, single.filter(|&i| is_symmetric(i)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{Chart, Product, univariate};

    fn scores(laws: &[(&str, &[f64])]) -> Frame {
        let laws = laws
            .iter()
            .map(|(name, numbers)| univariate(name, numbers).unwrap());
        let prior = Product::new(laws.collect()).unwrap();
        Frame::prior(&prior, Chart::Free).unwrap()
    }

    /// The images that count for a value of every point, at some top.
    fn images(scores: &Frame, ln_f: impl Fn(&[f64]) -> f64) -> Vec<Image> {
        let top: Vec<f64> = (0..scores.dim()).map(|i| 0.1 + 0.3 * i as f64).collect();
        let mut trials = Trials::new(scores, Wanted::All, (&top, ln_f(&top)), 0.0);
        let mut count = 0;
        loop {
            let Some(z) = trials.awaited().next() else {
                break;
            };
            trials.tell(0, Some(ln_f(&z)));
            count += 1;
        }
        assert!(count <= MOST_TRIALS + 1);
        trials.images().unwrap()
    }

    #[test]
    fn two_normals_with_their_shares_have_two_peaks() {
        let laws: [(&str, &[f64]); 5] = [
            ("normal", &[0.0, 100.0]),
            ("normal", &[0.0, 100.0]),
            ("log-uniform", &[1.0, 100.0]),
            ("log-uniform", &[1.0, 100.0]),
            ("uniform", &[0.0, 1.0]),
        ];
        let scores = scores(&laws);
        let part = |mean: f64, sd: f64, share: f64| (share - (mean - 2.0 * sd).powi(2)).exp();
        let mixture = |z: &[f64]| (part(z[0], z[2], z[4]) + part(z[1], z[3], -z[4])).ln();
        let found = images(&scores, mixture);
        assert_eq!(found[1].entries(), [2, 1, 4, 3, -5]);
        assert_eq!(found.len(), 2);
        // Nothing is found where nothing is symmetric.
        assert_eq!(
            images(&scores, |z| z[0] + 2.0 * z[1] - z[2] / z[3]).len(),
            1
        );
    }

    #[test]
    fn three_labels_have_six_peaks() {
        let law: (&str, &[f64]) = ("normal", &[0.0, 1.0]);
        let scores = scores(&[law; 3]);
        assert_eq!(
            images(&scores, |z| z.iter().map(|z| z.powi(3)).sum()).len(),
            6
        );
        let first_two = |z: &[f64]| z[0] * z[1] + z[2];
        assert_eq!(images(&scores, first_two).len(), 2);
    }

    #[test]
    fn labels_are_found_among_parameters_of_one_prior() {
        let law: (&str, &[f64]) = ("log-uniform", &[0.01, 100.0]);
        let scores = scores(&[law; 4]);
        // Sizes 0 and 2 with rates 1 and 3, and sizes 0 and 1 with rates 2 and 3.
        let part = |size: f64, rate: f64| (size - 2.0 * rate * rate).sin();
        let by_label = images(&scores, |z| part(z[0], z[1]) + part(z[2], z[3]));
        assert_eq!(by_label[1].entries(), [3, 4, 1, 2]);
        let by_kind = images(&scores, |z| part(z[0], z[2]) + part(z[1], z[3]));
        assert_eq!(by_kind[1].entries(), [2, 1, 4, 3]);
        assert!(by_label.len() == 2 && by_kind.len() == 2);
    }

    #[test]
    fn different_priors_are_not_exchanged() {
        let scores = scores(&[("normal", &[0.0, 1.0]), ("normal", &[0.0, 2.0])]);
        assert!(candidates(&scores, Wanted::All).is_empty());
    }

    #[test]
    fn labels_have_several_parameters_each() {
        let a: (&str, &[f64]) = ("normal", &[0.0, 1.0]);
        let b: (&str, &[f64]) = ("half-normal", &[2.0]);
        // A box of equal sides has one group: nothing to try before there is a peak.
        assert!(candidates(&scores(&[a; 4]), Wanted::Labels).is_empty());
        let labels = candidates(&scores(&[a, a, b, b]), Wanted::Labels);
        assert_eq!(labels.len(), 1);
        assert_eq!(labels[0].image.entries(), [2, 1, 4, 3]);
    }
}
