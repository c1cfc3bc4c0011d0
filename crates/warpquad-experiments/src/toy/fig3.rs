//! Figure 3: what fitting in f-space changes.

use super::{Curves, Model, f, grid, ln_f, observe};
use crate::chart::{Axis, Figure, Mark, Panel, Style};
use crate::table::{Table, digits, mean, quantile};
use crate::{Context, Finding};
use warpquad::fit::Space;
use warpquad::numeric::parallel;
use warpquad::numeric::random::Rng;
use warpquad::{Data, Points, Result};

/// Fifteen uniform points in [-5, 5]. With `gap` they leave [-2, 0] unobserved, as the paper's
/// sample does: draws that fall there are drawn again.
pub fn fifteen(rng: &mut Rng, gap: bool) -> Result<Data> {
    let mut draw = || loop {
        let x = 10.0 * rng.uniform() - 5.0;
        if !gap || !(-2.0..=0.0).contains(&x) {
            return x;
        }
    };
    let x: Vec<f64> = (0..15).map(|_| draw()).collect();
    observe(&x)
}

/// The two fits of one sample.
pub struct Comparison {
    /// Fitted in f-space.
    pub f: Model,
    /// Fitted in g-space.
    pub g: Model,
}

/// What the figure shows, in numbers.
#[derive(Debug, Clone, Copy)]
pub struct Numbers {
    /// How far the f-space fit's mean is above the mean of the observed g.
    pub mean_above: f64,
    /// The f-space fit's output scale over the g-space fit's.
    pub scales: f64,
    /// The largest sd of f on [-2, 0], fitted in f-space and in g-space.
    pub widest: [f64; 2],
    /// Root mean squared error of the mean of f on [-5, 5], in either space.
    pub rmse: [f64; 2],
}

impl Comparison {
    /// Fit the log warp in both spaces.
    pub fn new(data: &Data) -> Result<Comparison> {
        Ok(Comparison {
            f: Model::fit(data, "log", Space::F)?,
            g: Model::fit(data, "log", Space::G)?,
        })
    }

    /// The figure in numbers.
    pub fn numbers(&self) -> Result<Numbers> {
        let (region, all) = (grid(-2.0, 0.0, 200)?, grid(-5.0, 5.0, 400)?);
        let widest = |model: &Model| -> Result<f64> {
            let curves = model.curves(&region)?;
            Ok(curves.f.iter().map(|(_, sd)| *sd).fold(0.0, f64::max))
        };
        let rmse = |model: &Model| -> Result<f64> {
            let curves = model.curves(&all)?;
            let squares = all
                .iter()
                .zip(&curves.f)
                .map(|(x, (m, _))| (m - f(x[0])).powi(2));
            Ok(mean(&squares.collect::<Vec<_>>()).sqrt())
        };
        let ((f_mean, f_scale), (_, g_scale)) = (self.f.process(), self.g.process());
        Ok(Numbers {
            mean_above: f_mean - mean(&self.f.g),
            scales: f_scale / g_scale,
            widest: [widest(&self.f)?, widest(&self.g)?],
            rmse: [rmse(&self.f)?, rmse(&self.g)?],
        })
    }
}

/// Run figure 3.
pub fn fig3(context: &Context<'_>) -> Result<Finding> {
    let rng = Rng::new(context.seed);
    let data = fifteen(&mut rng.child(0), true)?;
    let shown = Comparison::new(&data)?;
    let x = grid(-5.0, 5.0, 500)?;
    let (f_fit, g_fit) = (shown.f.curves(&x)?, shown.g.curves(&x)?);
    let count = context.choose(100, 20);
    let samples = parallel::map(count, |i| {
        Comparison::new(&fifteen(&mut rng.child(1 + i as u64), true)?)?.numbers()
    });
    let samples = samples.into_iter().collect::<Result<Vec<Numbers>>>()?;
    let files = vec![
        context.write("fig3.csv", &curve_table(&x, &f_fit, &g_fit).csv())?,
        context.write("fig3_samples.csv", &sample_table(&samples).csv())?,
        context.write("fig3.svg", &figure(&data, &x, &shown, &f_fit, &g_fit).svg())?,
    ];
    Ok(Finding {
        paragraph: paragraph(&shown, &samples)?,
        files,
    })
}

fn paragraph(shown: &Comparison, samples: &[Numbers]) -> Result<String> {
    let numbers = shown.numbers()?;
    let mut table = Table::new(&["", "f-space", "g-space", "the paper on it"]);
    let ((f_mean, f_scale), (g_mean, g_scale)) = (shown.f.process(), shown.g.process());
    let observed = mean(&shown.f.g);
    let mut row = |name: &str, f: f64, g: f64, paper: &str| {
        table.push(vec![name.into(), digits(f, 3), digits(g, 3), paper.into()]);
    };
    row(
        &format!("mean of g (that of the data is {})", digits(observed, 3)),
        f_mean,
        g_mean,
        "\"much higher than the mean of the transformed data\"",
    );
    row(
        "output scale (variance of g)",
        f_scale,
        g_scale,
        "\"very small\"",
    );
    row(
        "largest sd of f on [-2; 0]",
        numbers.widest[0],
        numbers.widest[1],
        "\"massive variance in f-space\"",
    );
    row(
        "RMSE of the mean of f",
        numbers.rmse[0],
        numbers.rmse[1],
        "",
    );
    let all = |pick: fn(&Numbers) -> f64| samples.iter().map(pick).collect::<Vec<f64>>();
    let spread = |pick: fn(&Numbers) -> f64| {
        let values = all(pick);
        format!(
            "{} ({} to {})",
            digits(quantile(&values, 0.5), 2),
            digits(quantile(&values, 0.0), 2),
            digits(quantile(&values, 1.0), 2)
        )
    };
    let share = |holds: fn(&Numbers) -> bool| samples.iter().filter(|n| holds(n)).count();
    Ok(format!(
        "Fifteen uniform points in [-5, 5] that leave [-2, 0] unobserved as the paper's do, log \
         warp, Matern 3/2.\n\n{}\n\
         Over {} such samples, median and range: the f-space mean is {} above the mean of the \
         observed g; the ratio of output scales (f-space over g-space) is {}; the ratio of \
         the largest sd of f on [-2, 0] (g-space over f-space) is {}. The f-space mean is the \
         higher one in {} of them, its output scale the smaller one in {}, its sd of f the \
         smaller one in {}. The figure is borne out, and the f-space mean of f also has the \
         smaller error in {} of {}. The f-space output scale is often 5, the largest that the \
         library lets this fit take (the largest of the starts that the paper recommends).",
        table.markdown(),
        samples.len(),
        spread(|n| n.mean_above),
        spread(|n| n.scales),
        spread(|n| n.widest[1] / n.widest[0]),
        share(|n| n.mean_above > 0.0),
        share(|n| n.scales < 1.0),
        share(|n| n.widest[0] < n.widest[1]),
        share(|n| n.rmse[0] < n.rmse[1]),
        samples.len(),
    ))
}

fn curve_table(x: &Points, f_fit: &Curves, g_fit: &Curves) -> Table {
    let mut table = Table::new(&[
        "x", "space", "truth_f", "mean_f", "sd_f", "truth_g", "mean_g", "sd_g",
    ]);
    for (space, curves) in [("f", f_fit), ("g", g_fit)] {
        for (x, ((m, sd), g)) in x.iter().zip(curves.f.iter().zip(&curves.g)) {
            let cells = [f(x[0]), *m, *sd, ln_f(x[0]), g.mu, g.s.sqrt()].map(|x| digits(x, 8));
            table.push([vec![digits(x[0], 8), space.to_string()], cells.to_vec()].concat());
        }
    }
    table
}

fn sample_table(samples: &[Numbers]) -> Table {
    let mut table = Table::new(&[
        "sample",
        "mean_above",
        "scale_ratio",
        "widest_f",
        "widest_g",
        "rmse_f",
        "rmse_g",
    ]);
    for (i, n) in samples.iter().enumerate() {
        let cells = [
            n.mean_above,
            n.scales,
            n.widest[0],
            n.widest[1],
            n.rmse[0],
            n.rmse[1],
        ];
        table.push([vec![i.to_string()], cells.map(|x| digits(x, 6)).to_vec()].concat());
    }
    table
}

fn figure(data: &Data, x: &Points, shown: &Comparison, f_fit: &Curves, g_fit: &Curves) -> Figure {
    let at: Vec<f64> = data.points().iter().map(|x| x[0]).collect();
    let band = |values: Vec<(f64, f64)>, style: Style| {
        let pairs = x.iter().zip(values);
        Mark::Band {
            points: pairs
                .map(|(x, (m, sd))| (x[0], m - 2.0 * sd, m + 2.0 * sd))
                .collect(),
            style,
        }
    };
    let curve = |values: Vec<f64>, style: Style| Mark::Line {
        points: x.iter().zip(values).map(|(x, y)| (x[0], y)).collect(),
        style,
    };
    let truth = Style::black().named("truth").sized(1.2);
    let dots = |y: Vec<f64>| Mark::Dots {
        points: at.iter().copied().zip(y).collect(),
        style: Style::black().named("observations").sized(3.5),
    };
    let mut figure = Figure::new("Figure 3: fitting in f-space against fitting in g-space", 2)
        .sized(480.0, 300.0);
    let fits = [("f-space", f_fit, 0), ("g-space", g_fit, 1)];
    for (name, curves, color) in fits {
        let style = Style::color(color).named(&format!("fitted in {name}: mean and two sd"));
        figure.panels.push(
            Panel::new(
                &format!("p(f), fitted in {name}"),
                Axis::linear("x"),
                Axis::linear("f(x)").range(-3.0, 4.0),
            )
            .with(band(curves.f.clone(), Style::color(color)))
            .with(curve(x.iter().map(|x| f(x[0])).collect(), truth.clone()))
            .with(curve(curves.f.iter().map(|(m, _)| *m).collect(), style))
            .with(dots(at.iter().map(|&x| f(x)).collect())),
        );
    }
    // g is ln f less its largest observed value.
    let top = at
        .iter()
        .map(|&x| ln_f(x))
        .fold(f64::NEG_INFINITY, f64::max);
    for (name, curves, color) in fits {
        figure.panels.push(
            Panel::new(
                &format!("p(g), fitted in {name}"),
                Axis::linear("x"),
                Axis::linear("g(x)").range(-65.0, 20.0),
            )
            .with(band(
                curves.g.iter().map(|g| (g.mu, g.s.sqrt())).collect(),
                Style::color(color),
            ))
            .with(curve(
                x.iter().map(|x| ln_f(x[0]) - top).collect(),
                truth.clone(),
            ))
            .with(curve(
                curves.g.iter().map(|g| g.mu).collect(),
                Style::color(color),
            ))
            .with(dots(shown.f.g.clone())),
        );
    }
    figure
}
