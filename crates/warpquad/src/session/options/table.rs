//! The options: one entry each, from which problem files, flags, keywords, journals and the guide
//! are made.

use super::{Case, Entry, Field, Fields, Kept, Kind, PLAIN, Reach, Section};
use crate::engine::Tuning;
use crate::fit::Space;
use crate::measure::Chart;
use crate::session::spec::{Failed, OnFailure};
use crate::warp::Range;

/// Make the structs that hold the options and the table that describes them out of the same lines.
///
/// An entry is `name: type = default, "help", { columns }`; columns that are left out are those of
/// [`PLAIN`].
macro_rules! options {
    ($(
        $(#[$about:meta])*
        $holder:ident, kept in $place:ident, of $section:ident {
            $($name:ident: $type:ty = $default:expr, $help:literal,
              { $($column:ident: $value:expr),* $(,)? })*
        }
    )*) => {
        $(
            $(#[$about])*
            #[derive(Debug, Clone, PartialEq)]
            pub struct $holder {
                $(#[doc = $help] pub $name: $type,)*
            }

            impl Default for $holder {
                fn default() -> $holder {
                    $holder { $($name: $default,)* }
                }
            }
        )*

        /// All options, in the order in which they are listed.
        pub static TABLE: &[Entry] = &[$($(
            Entry {
                name: stringify!($name),
                section: Section::$section,
                help: $help,
                get: |problem| problem.$place.$name.get(),
                set: |problem, setting| {
                    let read = Field::set(setting);
                    read.map(|read| problem.$place.$name = read).is_some()
                },
                clear: |problem| problem.$place.$name = $default,
                $($column: $value,)*
                ..Entry { keyword: stringify!($name), ..PLAIN }
            },
        )*)*];
    };
}

/// The most workers: each is a thread, and may be a process too.
const MOST_WORKERS: usize = 1024;
/// The most points asked for at once.
const MOST_IN_A_BATCH: usize = 1024;
/// The most nodes: 64 times the default, and about 200 MB.
const MOST_NODES: usize = 1 << 20;
/// The most particles of a pass: some hundred MB in ten dimensions.
const MOST_PARTICLES: usize = 1_000_000;
/// The longest time limit, thirty years; a clock cannot count to much more.
const LONGEST_TIMEOUT_SECONDS: f64 = 1e9;

/// The fields of [`Tuning`].
const TUNING: Kind = Kind::Fields {
    all: || Tuning::FIELDS.iter().map(|field| field.name).collect(),
    check: |name, numbers| Tuning::default().set(name, numbers),
};

const NO_PROCESS: &[(Case, &str)] = &[(Case::Baseline, "{method} has no Gaussian process")];

options! {
    /// What `[integrand]` says beside the integrand.
    IntegrandSettings, kept in settings, of Integrand {
        range: Range = Range::POSITIVE,
        "What is known of f: 0,1 for a rate, -inf,inf for nothing",
        { kind: Kind::Interval, value: "LO,HI", kept: Kept::Problem }

        on_failure: OnFailure = OnFailure::Stop,
        "After a failed evaluation: stop, skip the point, or retry it",
        { kind: Kind::Word(OnFailure::NAMES), value: "WORD" }

        failed: Option<Failed> = None,
        "What is assumed of f where evaluations failed: unknown, or zero",
        { kind: Kind::Word(Failed::NAMES), value: "WORD", unset: "unknown", kept: Kept::Method, refused: NO_PROCESS }

        retries: usize = 2,
        "Attempts after the first, under retry; also restarts of a crashed command for one point",
        { kind: Kind::Count { least: 0, most: usize::MAX }, value: "N" }

        timeout: Option<f64> = None,
        "Seconds for one evaluation",
        { kind: Kind::Seconds { most: LONGEST_TIMEOUT_SECONDS }, value: "SECONDS", unset: "no limit" }

        noise: Option<f64> = None,
        "The variance of the noise on the latent g: on ln f, with the log warp",
        { kind: Kind::Variance, value: "VARIANCE", unset: "0", kept: Kept::Method, refused: NO_PROCESS }

        initial: Option<String> = None,
        "What is known before: a CSV file of points, with values or without, or an older run",
        { kind: Kind::Path, value: "PATH", unset: "nothing is known", reach: Reach::Program,
          refused: &[(Case::Baseline, "{method} chooses its own points")] }

        mapped: Vec<String> = Vec::new(),
        "Parameters that are coordinates of x; whoever brings the values has the map",
        { kind: Kind::Texts, value: "NAMES", reach: Reach::File }
    }

    /// What `[prior]` says beside the parameters.
    Restriction, kept in restriction, of Prior {
        constraints: Option<Vec<String>> = None,
        "Keep the prior where all of these comparisons hold, like a < b",
        { kind: Kind::Texts, value: "A<B", unset: "none", kept: Kept::Problem }

        normalise: Option<bool> = None,
        "Whether a prior with constraints has mass 1 again; false keeps the density as it was",
        { kind: Kind::Flag, value: "true|false", unset: "true", kept: Kept::Problem,
          refused: &[(Case::Sample, "is for a prior with a density, and this one is a sample")] }
    }

    /// How to integrate; what is not said is left to the method.
    MethodSpec, kept in method, of Method {
        name: Option<String> = None,
        "The method, or a baseline, by name",
        { kind: Kind::Name { family: "methods" }, keyword: "method", value: "NAME", unset: "auto", kept: Kept::Method }

        warp: Option<String> = None,
        "The warp between g and f, in place of the method's own",
        { kind: Kind::Name { family: "warps" }, value: "NAME", unset: "the method's", kept: Kept::Method,
          refused: NO_PROCESS }

        kernel: Option<String> = None,
        "The kernel, in place of the method's own",
        { kind: Kind::Name { family: "kernels" }, value: "NAME", unset: "the method's", kept: Kept::Method,
          refused: NO_PROCESS }

        fit: Option<String> = None,
        "The space in which the hyperparameters are fitted",
        { kind: Kind::Word(Space::NAMES), value: "SPACE", unset: "the method's", kept: Kept::Method,
          refused: NO_PROCESS }

        acquisition: Option<String> = None,
        "What chooses the next point, in place of the method's own",
        { kind: Kind::Name { family: "acquisitions" }, value: "NAME", unset: "the method's", kept: Kept::Method,
          refused: NO_PROCESS }

        coordinates: Option<String> = None,
        "The coordinates that the Gaussian process lives in: identity, natural, score or unit",
        { kind: Kind::Word(Chart::NAMES), value: "NAME", unset: "the method's", kept: Kept::Method,
          refused: NO_PROCESS }

        nodes: Option<usize> = None,
        "Nodes of the final integral, to begin with",
        { kind: Kind::Count { least: 1, most: MOST_NODES }, value: "N", unset: "the method's", kept: Kept::Method,
          refused: NO_PROCESS }

        refit_every: Option<usize> = None,
        "Observations between two fits from all starting points",
        { kind: Kind::Count { least: 1, most: usize::MAX }, value: "N", unset: "the method's", kept: Kept::Method,
          refused: NO_PROCESS }

        batch: Option<usize> = None,
        "Points asked for at once, each as if those before it had come back as expected",
        { kind: Kind::Count { least: 1, most: MOST_IN_A_BATCH }, value: "N", unset: "1",
          refused: &[(Case::Baseline, "{method} chooses its own batches")] }

        particles: Option<usize> = None,
        "The size of every pass of a baseline that has particles",
        { kind: Kind::Count { least: 1, most: MOST_PARTICLES }, value: "N", unset: "it grows", kept: Kept::Method,
          refused: &[
              (Case::Quadrature, "is for the baselines {particles}"),
              (Case::NoParticles, "{method} has no particles"),
          ] }

        tuning: Option<Fields> = None,
        "Numbers that auto decides by, for experiments; fields may change",
        { kind: TUNING, value: "FIELD=VALUE", unset: "the method's", kept: Kept::Method,
          refused: &[(Case::Untuned, "{method} has no tuning: it is auto's")] }
    }

    /// When to stop: at the first limit that is met.
    Budget, kept in budget, of Budget {
        evaluations: Option<usize> = None,
        "Evaluations to spend",
        { kind: Kind::Count { least: 1, most: usize::MAX }, keyword: "budget", value: "N", unset: "100, of a baseline 10000" }

        seconds: Option<f64> = None,
        "Seconds on the clock to spend",
        { kind: Kind::Positive, value: "SECONDS", unset: "no limit" }

        log_z_sd: Option<f64> = None,
        "The standard deviation of ln Z that is small enough, twice in a row",
        { kind: Kind::Positive, value: "NATS", unset: "no limit" }

        audit: Option<f64> = None,
        "Check the answer with this part of the evaluations, at most 0.5",
        { kind: Kind::Positive, value: "FRACTION", unset: "no audit",
          refused: &[
              (Case::Baseline, "draws points from the belief of Bayesian quadrature, and {method} has none"),
              (Case::Table, "draws points of its own, and a table has only those it has"),
              (Case::AnySign, "needs f >= 0, because it compares ln Z"),
              (Case::Sample, "draws points of a density, and the prior is a sample"),
          ] }

        workers: usize = 1,
        "Evaluations that run at once",
        { kind: Kind::Count { least: 1, most: MOST_WORKERS }, value: "N", reach: Reach::Program }
    }
}
