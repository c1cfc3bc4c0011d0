//! Keep the events of a run in memory and in its journal, and the time that writing takes.

use super::event::Event;
use super::journal::Journal;
use crate::error::Result;
use std::time::Instant;

/// Where events are written before they count.
pub(super) trait Record {
    /// Make sure that there is room for a value before it is paid for.
    fn reserve(&mut self) -> Result<()>;

    /// Write an event.
    fn record(&mut self, event: &Event) -> Result<()>;
}

/// Everything that happened, with the journal that holds it, if there is one.
#[derive(Debug, Default)]
pub(super) struct Book {
    pub journal: Option<Journal>,
    pub events: Vec<Event>,
    /// Seconds spent writing the journal, in earlier processes too.
    pub seconds: f64,
}

impl Record for Book {
    fn reserve(&mut self) -> Result<()> {
        self.journal.as_mut().map_or(Ok(()), Journal::reserve)
    }

    fn record(&mut self, event: &Event) -> Result<()> {
        let started = Instant::now();
        if let Some(journal) = &mut self.journal {
            journal.append(event)?;
        }
        self.events.push(event.clone());
        self.seconds += started.elapsed().as_secs_f64();
        Ok(())
    }
}
