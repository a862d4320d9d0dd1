//! The built-in lesson, for a chat with no agent installed.
//!
//! Its text is a scenario like any other, in `tour.json`.

use super::scenario::{Scenario, ScenarioError};

/// The guided tour.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tour {
    /// Factor on every pause: 1 for people, 0 for machines.
    pub pace: f64,
}

impl Default for Tour {
    fn default() -> Self {
        Self { pace: 1.0 }
    }
}

impl Tour {
    /// What the tour says and does.
    ///
    /// # Errors
    /// Never with the text this program was built with; a test holds it to that.
    pub fn scenario(self) -> Result<Scenario, ScenarioError> {
        let scenario = Scenario::parse(include_str!("tour.json"))?;
        Ok(Scenario { pace: Some(self.pace), ..scenario })
    }
}
