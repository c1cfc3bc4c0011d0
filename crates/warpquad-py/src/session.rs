//! Hand a session to Python: ask and tell over the journal of the command line.

use crate::error::{detached, raise};
use crate::report::Report;
use crate::taken::{Asked, Taken, asked};
use numpy::ndarray::ArrayView1;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use warpquad::session::arguments::{Argument, ArgumentKind};
use warpquad::session::evaluator::{Answer, Failure};
use warpquad::session::options::{Setting, listing};
use warpquad::session::spec::Problem;
use warpquad::session::{self, Next, Offered, bounded};
use warpquad::{Error, Result, Value};

/// What to do next ("evaluate", "wait" or "stop"), the points to evaluate, and why the run stopped.
type Said<'py> = (&'static str, Vec<Asked<'py>>, String);
/// Observations: the points, the values, and which of the values are logs.
type Observed<'py> = (
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<bool>>,
);

/// A run of a problem: ask for points, tell values, and say what is known of Z.
///
/// Every call may come from any thread; what takes time runs without the interpreter's lock.
#[pyclass(frozen, module = "warpquad._core")]
pub struct Session {
    core: Mutex<session::Session>,
    /// Whether its directory has been let go of.
    closed: AtomicBool,
}

impl Session {
    fn of(made: PyResult<session::Session>) -> PyResult<Session> {
        made.map(|core| Session {
            core: Mutex::new(core),
            closed: AtomicBool::new(false),
        })
    }

    fn lock(&self) -> MutexGuard<'_, session::Session> {
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Look something up. Another thread may compute with the session for a while: wait without the
    /// lock too.
    pub fn look<T: Send>(
        &self,
        py: Python<'_>,
        at: impl FnOnce(&mut session::Session) -> T + Send,
    ) -> T {
        py.detach(|| at(&mut self.lock()))
    }

    /// Compute with the core's session, without the interpreter's lock.
    pub fn compute<T: Send>(
        &self,
        py: Python<'_>,
        with: impl FnOnce(&mut session::Session) -> Result<T> + Send,
    ) -> PyResult<T> {
        detached(py, || with(&mut self.lock()))
    }

    /// Change the run, unless its directory has been let go of.
    fn change<T: Send>(
        &self,
        py: Python<'_>,
        by: impl FnOnce(&mut session::Session) -> Result<T> + Send,
    ) -> PyResult<T> {
        if self.closed.load(Ordering::Relaxed) {
            let error = Error::spec("run", "is closed; open it again to go on with it");
            return Err(raise(py, &error));
        }
        self.compute(py, by)
    }

    fn tell_answer(
        &self,
        py: Python<'_>,
        id: u64,
        answer: Answer,
        seconds: f64,
    ) -> PyResult<Taken> {
        self.change(py, |session| session.tell(id, answer, seconds))
            .map(Taken)
    }
}

/// A problem from text that no file holds: its errors name fields, not lines. `limited` gives it
/// the default budget if it has none.
fn problem(text: &str, limited: bool) -> Result<Problem> {
    let parsed = Problem::parse(text).map_err(|error| Error::from(error.in_file("")))?;
    let problem = parsed.in_file("");
    Ok(match limited {
        true => bounded(problem),
        false => problem,
    })
}

/// A number as f, or as ln f.
fn value_of(number: f64, log: bool) -> Value {
    match log {
        true => Value::Log(number),
        false => Value::Linear(number),
    }
}

#[pymethods]
impl Session {
    /// A new run of the problem in `text`, kept in the directory `run` if one is given. `limited`
    /// gives it the default budget if it has none.
    #[staticmethod]
    #[pyo3(signature = (text, seed, run=None, limited=false))]
    fn create(
        py: Python<'_>,
        text: &str,
        seed: u64,
        run: Option<PathBuf>,
        limited: bool,
    ) -> PyResult<Session> {
        let made = detached(py, || {
            let problem = problem(text, limited)?;
            match &run {
                Some(dir) => session::Session::create(problem, text, seed, dir),
                None => session::Session::new(problem, text, seed),
            }
        });
        Session::of(made)
    }

    /// Go on with the run in a directory; a problem, if one is given, must be the run's own.
    #[staticmethod]
    #[pyo3(signature = (run, text=None, limited=false))]
    fn open(py: Python<'_>, run: PathBuf, text: Option<&str>, limited: bool) -> PyResult<Session> {
        let opened = detached(py, || {
            let problem = text.map(|text| problem(text, limited)).transpose()?;
            session::Session::open(&run, problem)
        });
        Session::of(opened)
    }

    /// Look at the run in a directory, which may be going on; nothing is written.
    #[staticmethod]
    fn peek(py: Python<'_>, run: PathBuf) -> PyResult<Session> {
        let seen = detached(py, || session::Session::peek(&run));
        Session::of(seen)
    }

    /// The run as the lines of its journal, whether or not a directory holds them.
    fn to_lines(&self, py: Python<'_>) -> String {
        self.look(py, |session| session.to_lines())
    }

    /// The run that `to_lines` wrote.
    #[staticmethod]
    fn from_lines(py: Python<'_>, lines: &str) -> PyResult<Session> {
        let read = detached(py, || session::Session::from_lines(lines));
        Session::of(read)
    }

    /// The same run with answers under the prior of the problem in `text`.
    fn under(&self, py: Python<'_>, text: &str) -> PyResult<Session> {
        let made = self.compute(py, |session| session.under(problem(text, false)?));
        Session::of(made)
    }

    /// Whether a directory holds a run.
    #[staticmethod]
    fn exists(run: PathBuf) -> bool {
        session::Session::exists(&run)
    }

    /// What to do next, now that a worker is free; at most so many points of one batch.
    fn next<'py>(&self, py: Python<'py>, most: usize) -> PyResult<Said<'py>> {
        let (next, rest) = self.change(py, |session| {
            let next = session.next()?;
            let more = match next {
                Next::Evaluate(_) => most.saturating_sub(1),
                _ => 0,
            };
            let rest = std::iter::from_fn(|| session.next_of_batch());
            Ok((next, rest.take(more).collect::<Vec<_>>()))
        })?;
        Ok(match next {
            Next::Evaluate(first) => {
                let tasks = std::iter::once(first).chain(rest);
                let tasks = tasks.map(|task| asked(py, task)).collect();
                ("evaluate", tasks, String::new())
            }
            Next::Wait => ("wait", Vec::new(), String::new()),
            Next::Stop(stop) => ("stop", Vec::new(), stop.to_string()),
        })
    }

    /// Stop without waiting for what is under way, which stays pending: why the run stopped.
    fn interrupt(&self, py: Python<'_>) -> String {
        self.look(py, |session| session.interrupt().to_string())
    }

    /// Say whether someone looks, so that it is worth working out Z now and then.
    fn set_watched(&self, py: Python<'_>, watched: bool) {
        self.look(py, |session| session.set_watched(watched));
    }

    /// Ask for so many points at once.
    fn set_batch(&self, py: Python<'_>, points: usize) {
        self.look(py, |session| session.set_batch(points));
    }

    /// The next point to evaluate, whatever the budget: its number and its coordinates.
    fn ask<'py>(&self, py: Python<'py>) -> PyResult<Asked<'py>> {
        let task = self.change(py, session::Session::ask)?;
        Ok(asked(py, task))
    }

    /// Ask for a point of the caller's own choice.
    fn ask_for<'py>(&self, py: Python<'py>, x: PyReadonlyArray1<'py, f64>) -> PyResult<Asked<'py>> {
        let x = x.as_array().to_vec();
        let task = self.change(py, |session| session.ask_for(x))?;
        Ok(asked(py, task))
    }

    /// Take a value, ln f if `log`, with numbers derived beside it: what became of it.
    #[pyo3(signature = (id, value, log, seconds, derived=Vec::new()))]
    fn tell(
        &self,
        py: Python<'_>,
        id: u64,
        value: f64,
        log: bool,
        seconds: f64,
        derived: Vec<(String, f64)>,
    ) -> PyResult<Taken> {
        let answer = Answer::from(value_of(value, log)).with(derived);
        self.tell_answer(py, id, answer, seconds)
    }

    /// Take a value at a point that was not asked for.
    fn tell_at(
        &self,
        py: Python<'_>,
        x: PyReadonlyArray1<'_, f64>,
        value: f64,
        log: bool,
    ) -> PyResult<Taken> {
        let (x, value) = (x.as_array().to_vec(), value_of(value, log));
        self.change(py, |session| session.tell_at(&x, value))
            .map(Taken)
    }

    /// Take what is known before the run: points with values, NaN where there is none, and how many
    /// points were left out already. What became of it, in words.
    fn take_initial(
        &self,
        py: Python<'_>,
        source: String,
        points: PyReadonlyArray2<'_, f64>,
        values: PyReadonlyArray1<'_, f64>,
        log: bool,
        outside: usize,
    ) -> PyResult<String> {
        let points = points.as_array();
        let values = values.as_array();
        let rows = points.outer_iter().zip(values.iter());
        let row = |(x, value): (ArrayView1<'_, f64>, &f64)| {
            let known = !value.is_nan();
            (x.to_vec(), known.then(|| value_of(*value, log)))
        };
        let offered = Offered {
            source,
            rows: rows.map(row).collect(),
            outside,
        };
        let initial = self.change(py, |session| session.take_initial(&offered))?;
        Ok(initial.words())
    }

    /// Take a failure; `recoverable` says whether another point may still succeed.
    fn fail(
        &self,
        py: Python<'_>,
        id: u64,
        reason: String,
        recoverable: bool,
        seconds: f64,
    ) -> PyResult<Taken> {
        let failure = Failure {
            reason,
            recoverable,
        };
        self.tell_answer(py, id, failure.into(), seconds)
    }

    /// Go on with these options, which a run may change: keywords, and values in the words of a
    /// problem file. What is not given is as the run has it, and the default budget if it has no
    /// limit.
    fn set_options(&self, py: Python<'_>, options: Vec<(String, String)>) -> PyResult<()> {
        self.compute(py, |session| {
            let read = |(keyword, text): &(String, String)| {
                let setting = Setting::of_toml(text);
                let setting = setting.map_err(|reason| Error::spec(keyword, reason))?;
                Ok((keyword.clone(), setting))
            };
            let given = options.iter().map(read).collect::<Result<Vec<_>>>()?;
            session.set_options(&given)
        })
    }

    /// Say in the journal that the run stopped.
    fn stopped(&self, py: Python<'_>, reason: &str) -> PyResult<()> {
        self.change(py, |session| session.stopped(reason))
    }

    /// Let go of the run's directory, for other processes; what is known stays. A run in memory
    /// stays open.
    fn close(&self, py: Python<'_>) {
        if self.look(py, session::Session::release) {
            self.closed.store(true, Ordering::Relaxed);
        }
    }

    /// What is known of Z, by a run that stopped for this reason. Looking leaves no trace in the
    /// run.
    fn report(&self, py: Python<'_>, stop: &str) -> PyResult<Report> {
        self.compute(py, |session| session::Report::new(session, stop))
            .map(Report)
    }

    /// Points asked for and not told, in the order they were asked.
    fn pending<'py>(&self, py: Python<'py>) -> Vec<Asked<'py>> {
        let pending = self.look(py, |session| session.pending());
        pending.into_iter().map(|task| asked(py, task)).collect()
    }

    /// The points, the values, and which of the values are ln f.
    fn observations<'py>(&self, py: Python<'py>) -> PyResult<Observed<'py>> {
        let (points, values) = self.look(py, |session| {
            let (points, values) = session.observations();
            (points.clone(), values.to_vec())
        });
        let number = |value: &Value| match *value {
            Value::Linear(x) | Value::Log(x) => x,
        };
        let is_log = |value: &Value| matches!(value, Value::Log(_));
        let flat: Vec<f64> = points.iter().flatten().copied().collect();
        Ok((
            PyArray1::from_vec(py, flat).reshape([points.len(), points.dim()])?,
            PyArray1::from_iter(py, values.iter().map(number)),
            PyArray1::from_iter(py, values.iter().map(is_log)),
        ))
    }

    /// The derived quantities at the observations; NaN where one was not given.
    fn derived(&self, py: Python<'_>) -> Vec<(String, Vec<f64>)> {
        self.look(py, |session| session.derived())
    }

    /// The median of ln Z and its central 95 %, when it was last worked out while the run went on.
    #[getter]
    fn estimate(&self, py: Python<'_>) -> Option<(f64, f64, f64)> {
        self.look(py, |session| {
            session.estimate().map(|outcome| {
                let [low, high] = outcome.ln_interval(0.95);
                (outcome.law.ln_quantile(0.5), low, high)
            })
        })
    }

    /// Values kept so far, but for those that were given without being asked for.
    #[getter]
    fn evaluations(&self, py: Python<'_>) -> usize {
        self.look(py, |session| session.evaluations())
    }

    /// Values that were given without being asked for.
    #[getter]
    fn given(&self, py: Python<'_>) -> usize {
        self.look(py, |session| session.given())
    }

    /// Points that were given up.
    #[getter]
    fn given_up(&self, py: Python<'_>) -> usize {
        self.look(py, |session| session.given_up())
    }

    /// Failed attempts.
    #[getter]
    fn failures(&self, py: Python<'_>) -> usize {
        self.look(py, |session| session.failures())
    }

    /// Seconds of wall clock that the run has taken, in earlier processes too.
    #[getter]
    fn seconds(&self, py: Python<'_>) -> f64 {
        self.look(py, |session| session.seconds())
    }

    /// Seconds that evaluations took, added up over workers.
    #[getter]
    fn seconds_in_integrand(&self, py: Python<'_>) -> f64 {
        self.look(py, |session| session.seconds_in_integrand())
    }

    /// The time limit of one evaluation, in seconds.
    #[getter]
    fn timeout(&self, py: Python<'_>) -> Option<f64> {
        self.look(py, |session| session.problem().settings.timeout)
    }

    /// The parameters' names.
    #[getter]
    fn names(&self, py: Python<'_>) -> Vec<String> {
        self.look(py, |session| session.problem().names.clone())
    }

    /// What the integrand is called with: name, size of a vector, and value if it is fixed.
    #[getter]
    fn arguments(&self, py: Python<'_>) -> Vec<(String, Option<usize>, Option<f64>)> {
        let arguments = self.look(py, |session| session.problem().arguments.clone());
        let one = |argument: &Argument| {
            let size = match argument.kind {
                ArgumentKind::Vector(size) => Some(size),
                ArgumentKind::Number | ArgumentKind::Fixed(_) => None,
            };
            (argument.name.clone(), size, argument.fixed())
        };
        arguments.iter().map(one).collect()
    }

    /// The least and the largest value that the prior gives each coordinate.
    #[getter]
    fn support(&self, py: Python<'_>) -> PyResult<Vec<(f64, f64)>> {
        self.compute(py, |session| Ok(session.problem().measure()?.support()))
    }

    /// Of each coordinate on a circle the two ends, which are one point.
    #[getter]
    fn circles(&self, py: Python<'_>) -> PyResult<Vec<Option<(f64, f64)>>> {
        self.compute(py, |session| {
            let circles = session.problem().measure()?.circles();
            let each = circles.as_ref().map_or(&[][..], |circles| circles.each());
            let ends = each
                .iter()
                .map(|circle| circle.map(|circle| (circle.start, circle.start + circle.period)));
            Ok(ends.collect())
        })
    }

    /// The parameters that are coordinates of what the user calls x.
    #[getter]
    fn mapped(&self, py: Python<'_>) -> Vec<String> {
        self.look(py, |session| session.problem().settings.mapped.clone())
    }

    /// The seed.
    #[getter]
    fn seed(&self, py: Python<'_>) -> u64 {
        self.look(py, |session| session.seed())
    }

    /// What is known of f: its least and its largest value.
    #[getter]
    fn range(&self, py: Python<'_>) -> (f64, f64) {
        let range = self.look(py, |session| session.problem().settings.range);
        (range.lo, range.hi)
    }

    /// The budget: evaluations, seconds, and the standard deviation of ln Z that is small enough.
    #[getter]
    fn budget(&self, py: Python<'_>) -> (Option<usize>, Option<f64>, Option<f64>) {
        let budget = self.look(py, |session| session.problem().budget.clone());
        (budget.evaluations, budget.seconds, budget.log_z_sd)
    }

    /// How many points are asked for at once, if it was said.
    #[getter]
    fn batch(&self, py: Python<'_>) -> Option<usize> {
        self.look(py, |session| session.problem().method.batch)
    }

    /// Why the run last stopped; `None` if it has gone on since.
    #[getter]
    fn last_stop(&self, py: Python<'_>) -> Option<String> {
        self.look(py, |session| session.last_stop().map(str::to_string))
    }
}

/// The table of options, as JSON.
#[pyfunction]
fn options() -> String {
    listing().to_string()
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(options, module)?)?;
    module.add_class::<Session>()
}
