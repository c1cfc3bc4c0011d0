//! Say what the command line takes.

use crate::options::Options;
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Integrals of expensive, constrained functions from few evaluations, with error bars.
#[derive(Debug, Parser)]
#[command(
    name = "warpquad",
    max_term_width = 100,
    version,
    after_help = "Example:\n  warpquad integrate examples/banana.toml --budget 60 --run out/banana\n\n\
                  Exit codes: 0 fine, 1 a mistake in the input, 2 usage, 3 numerics, 4 the integrand,\n\
                  130 Ctrl-C, 143 a kill."
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Integrate the problem of a file: start a run, or go on with one
    Integrate(Integrate),
    /// Print the next points to evaluate, as JSON lines
    Ask(Ask),
    /// Read results as JSON lines from standard input
    Tell(Tell),
    /// Say in one line where a run is, while it runs too
    Status(Look),
    /// Say what a run has found, while it runs too: as text, a page or figures
    Report(Report),
    /// Serve the page of a run to this machine's browser, and refresh it while the run goes on
    Watch(Watch),
    /// Write posterior draws of a run to a file
    Posterior(Posterior),
    /// Draw the corner plot of a run's posterior
    Plot(Plot),
    /// Bring a damaged run back to its last good line; the rest is kept beside it
    Repair(Look),
    /// Compare models: log Bayes factors and model probabilities
    Compare(Compare),
    /// Constrained regression: fit a warped Gaussian process to a CSV file
    Regress(Regress),
    /// Before spending: parse everything, evaluate two points twice, project the total
    Check(Check),
    /// Reproduce tables and figures of the paper this program implements
    Reproduce(Reproduce),
    /// List what there is to choose from
    List(List),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
}

#[derive(Debug, Args)]
pub struct Integrate {
    /// The problem file
    pub problem: PathBuf,
    /// Keep the run in this directory; if it holds a run already, go on with it
    #[arg(long, value_name = "DIR")]
    pub run: Option<PathBuf>,
    /// The seed of a new run
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,
    /// On resuming, evaluate one recorded point again, to notice a changed model
    #[arg(long)]
    pub recheck: bool,
    /// Print one JSON object and nothing else
    #[arg(long)]
    pub json: bool,
    /// No progress
    #[arg(short, long)]
    pub quiet: bool,
    #[command(flatten)]
    pub options: Options,
}

#[derive(Debug, Args)]
pub struct Ask {
    /// The run's directory; with --problem it is made if there is none
    pub run: PathBuf,
    /// How many points
    #[arg(short, long, value_name = "N", default_value_t = 1)]
    pub n: usize,
    /// Start the run from this problem file
    #[arg(long, value_name = "FILE")]
    pub problem: Option<PathBuf>,
    /// The seed of a new run
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,
    /// Print again what was asked for and not told yet; ask for nothing new
    #[arg(long, conflicts_with = "n")]
    pub pending: bool,
}

#[derive(Debug, Args)]
pub struct Tell {
    /// The run's directory
    pub run: PathBuf,
}

#[derive(Debug, Args)]
pub struct Look {
    /// The run's directory
    pub run: PathBuf,
    /// Print one JSON object and nothing else
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Report {
    /// The run's directory
    pub run: PathBuf,
    /// Answer under the prior of this problem file, without new evaluations
    #[arg(long, value_name = "FILE")]
    pub prior: Option<PathBuf>,
    /// Print one JSON object and nothing else
    #[arg(long)]
    pub json: bool,
    /// Write a page with every figure, one file that needs no network
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    pub html: Option<PathBuf>,
    /// Write every figure into this directory, as SVG and as PNG
    #[arg(long, value_name = "DIR", conflicts_with = "json")]
    pub plots: Option<PathBuf>,
    /// The parameters of the corner plot, with commas between them [default: all, at most 8]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub parameters: Option<Vec<String>>,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  warpquad posterior out/banana --draws 4000 --out draws.csv")]
pub struct Posterior {
    /// The run's directory
    pub run: PathBuf,
    /// Draw from the posterior under the prior of this problem file
    #[arg(long, value_name = "FILE")]
    pub prior: Option<PathBuf>,
    /// How many draws, all of one weight
    #[arg(long, value_name = "N", default_value_t = NonZeroUsize::new(warpquad_report::DRAWS).unwrap_or(NonZeroUsize::MIN))]
    pub draws: NonZeroUsize,
    /// The file: .csv, .jsonl (JSON lines) or .txt (GetDist's, with .paramnames beside it)
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// The seed of the draws
    #[arg(long, value_name = "S", default_value_t = warpquad_report::DRAWS_SEED)]
    pub seed: u64,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  warpquad plot out/banana --out corner.png")]
pub struct Plot {
    /// The run's directory
    pub run: PathBuf,
    /// The file: .png or .svg
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// The parameters to show, with commas between them [default: all, at most 8]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub parameters: Option<Vec<String>>,
}

#[derive(Debug, Args)]
pub struct Compare {
    /// The runs' directories, a model each
    #[arg(required = true, num_args = 2..)]
    pub runs: Vec<PathBuf>,
    /// Print one JSON object and nothing else
    #[arg(long)]
    pub json: bool,
    /// Write a page with the models side by side
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    pub html: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "The page is served to this machine only, at an address with a token. Ctrl-C ends it."
)]
pub struct Watch {
    /// The run's directory
    pub run: PathBuf,
    /// The port [default: a free one]
    #[arg(
        long,
        value_name = "PORT",
        default_value_t = 0,
        hide_default_value = true
    )]
    pub port: u16,
}

#[derive(Debug, Args)]
pub struct Regress {
    /// Training data: a CSV file with a header
    pub train: PathBuf,
    /// The column to predict
    #[arg(long, value_name = "COLUMN")]
    pub target: String,
    /// The range of the target: LO,HI (inf allowed)
    #[arg(
        long,
        value_name = "LO,HI",
        allow_hyphen_values = true,
        default_value = "-inf,inf"
    )]
    pub range: String,
    /// Predict the rows of this CSV file
    #[arg(long, value_name = "FILE")]
    pub predict: Option<PathBuf>,
    /// The variance of the noise of a value; without one values are exact
    #[arg(long, value_name = "VARIANCE", allow_hyphen_values = true, conflicts_with_all = ["fit_noise", "sd_column"])]
    pub noise: Option<f64>,
    /// Fit the variance of the noise
    #[arg(long, conflicts_with = "sd_column")]
    pub fit_noise: bool,
    /// The column with the standard deviation of the noise of each value; it is no input
    #[arg(long, value_name = "COLUMN")]
    pub sd_column: Option<String>,
    /// What noise is on: the target itself, or g, which is its ln where the range is half a line.
    /// Without it, g where the range is half a line and the target otherwise
    #[arg(long, value_enum)]
    pub noise_on: Option<NoiseOn>,
    /// The part of the mass between the ends of an interval
    #[arg(long, default_value_t = 0.95)]
    pub level: f64,
    /// The space the hyperparameters are fitted in
    #[arg(long, value_enum, default_value_t = Space::F)]
    pub fit: Space,
    /// The kernel
    #[arg(long, default_value = "matern32")]
    pub kernel: String,
    /// Print one JSON object and nothing else
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum NoiseOn {
    /// The target
    Y,
    /// g
    G,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Space {
    /// f-space, as the paper proposes
    F,
    /// g-space
    G,
    /// f-space, by left-out densities
    FLoo,
}

#[derive(Debug, Args)]
pub struct Check {
    /// The problem file
    pub problem: PathBuf,
    /// Print one JSON object and nothing else
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Experiments: warpquad list experiments\n\nA stopped run continues when it is started again."
)]
pub struct Reproduce {
    /// Names of experiments, or all
    #[arg(required = true, value_name = "NAME")]
    pub names: Vec<String>,
    /// The folder of the data [default: the environment's WARPQUAD_DATA]
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Where results go: a CSV and an SVG each, and README.md
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// A smaller version of each, in minutes
    #[arg(long)]
    pub quick: bool,
    /// How many spectra the absorber experiments take
    #[arg(long, value_name = "N")]
    pub spectra: Option<NonZeroUsize>,
    /// After so many minutes begin no more runs on spectra; with 0 report only
    #[arg(long, value_name = "N")]
    pub minutes: Option<u32>,
    /// The seed of everything random
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub seed: u64,
    /// No progress
    #[arg(short, long)]
    pub quiet: bool,
}

#[derive(Debug, Args)]
pub struct List {
    /// What to list, or all
    pub what: Option<Family>,
    /// Print one JSON object and nothing else
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Family {
    Warps,
    Kernels,
    Measures,
    Acquisitions,
    Methods,
    Baselines,
    Experiments,
    Options,
    Tuning,
}
