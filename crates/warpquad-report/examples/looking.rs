//! Compare what looking at a finished run costs with the run itself; ratios are what counts.

use std::time::Instant;
use warpquad::session::{Next, Session, evaluator::Answer, spec::Problem};
use warpquad::{Result, Value};

const BANANA: &str = "
integrand.external = 'example'
parameters.x.uniform = [-5, 5]
parameters.y.uniform = [-5, 5]
budget.evaluations = 100
";

fn main() -> Result<()> {
    let began = Instant::now();
    let mut session = Session::new(Problem::parse(BANANA)?, BANANA, 0)?;
    while let Next::Evaluate(task) = session.next()? {
        let (x, y) = (task.x[0], task.x[1]);
        let ln_f = -(100.0 * (y - x * x).powi(2) + (1.0 - x).powi(2)) / 20.0;
        session.tell(task.id, Answer::Value(Value::Log(ln_f)), 0.0)?;
    }
    session.outcome()?;
    let run = began.elapsed().as_secs_f64();
    println!("the run       {run:.3} s");
    let Some(engine) = session.engine() else {
        return Ok(());
    };
    let part = |name: &str, look: &dyn Fn() -> Result<()>| -> Result<()> {
        let began = Instant::now();
        look()?;
        let took = began.elapsed().as_secs_f64();
        println!("{name:<12}  {took:.3} s, {:.2} of the run", took / run);
        Ok(())
    };
    part("trace", &|| engine.clone().trace(10).map(|_| ()))?;
    part("posterior", &|| {
        engine.clone().posterior_sample(4000, 0).map(|_| ())
    })?;
    part("diagnosis", &|| engine.clone().diagnosis().map(|_| ()))
}
