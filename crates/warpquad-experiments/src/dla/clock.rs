//! Measure the CPU time of a method, which other programs on the machine do not change.

use std::time::Instant;

/// Whose CPU time counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// This thread's: for methods that use one.
    Thread,
    /// All threads' of this process: for methods that use several; nothing else may run in it.
    Process,
}

/// A stopwatch of CPU time with the wall clock beside it, which can be held while results are
/// looked at.
///
/// Linux tells CPU times in /proc; elsewhere the wall clock stands in.
#[derive(Debug)]
pub struct Clock {
    whose: Whose,
    cpu: f64,
    wall: f64,
    since: Option<(f64, Instant)>,
}

impl Clock {
    /// A running clock.
    pub fn start(whose: Whose) -> Clock {
        let mut clock = Clock {
            whose,
            cpu: 0.0,
            wall: 0.0,
            since: None,
        };
        clock.go_on();
        clock
    }

    /// Hold the clock.
    pub fn hold(&mut self) {
        (self.cpu, self.wall) = self.read();
        self.since = None;
    }

    /// Let it run again.
    pub fn go_on(&mut self) {
        self.since = Some((cpu_seconds(self.whose).unwrap_or(0.0), Instant::now()));
    }

    /// Seconds of CPU and of wall clock so far.
    pub fn read(&self) -> (f64, f64) {
        let Some((cpu, wall)) = self.since else {
            return (self.cpu, self.wall);
        };
        let passed = wall.elapsed().as_secs_f64();
        let spent = cpu_seconds(self.whose).map_or(passed, |now| now - cpu);
        (self.cpu + spent, self.wall + passed)
    }
}

fn cpu_seconds(whose: Whose) -> Option<f64> {
    match whose {
        // Nanoseconds on a processor come first.
        Whose::Thread => {
            let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
            let nanoseconds: f64 = text.split_whitespace().next()?.parse().ok()?;
            Some(1e-9 * nanoseconds)
        }
        // User and system time are fields 14 and 15, in hundredths; the second field is a name in
        // parentheses.
        Whose::Process => {
            let text = std::fs::read_to_string("/proc/self/stat").ok()?;
            let (_, after) = text.rsplit_once(')')?;
            let fields: Vec<&str> = after.split_whitespace().collect();
            let field = |i: usize| fields.get(i - 3)?.parse::<f64>().ok();
            Some(0.01 * (field(14)? + field(15)?))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_held_clock_stands_and_a_running_one_goes() {
        let mut clock = Clock::start(Whose::Thread);
        clock.hold();
        let held = clock.read();
        assert_eq!(clock.read(), held);
        clock.go_on();
        let mut x = 1.0_f64;
        while clock.read().1 - held.1 < 0.02 {
            x = std::hint::black_box(x.sin());
        }
        assert!(clock.read().0 >= held.0 && clock.read().1 > held.1);
    }
}
