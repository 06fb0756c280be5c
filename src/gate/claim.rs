//! report.json as the gate reads it: a claim, of which any part may be missing or of the wrong type.

use serde_json::{Map, Value};

use crate::model::{CaseId, FixtureTitle, Phase, Verdict};
use crate::report::Subject;

/// A report that somebody handed in.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim(Value);

/// One entry of `cases` or `fixtures`.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    kind: Kind,
    index: usize,
    value: &'a Value,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    Case,
    Fixture,
}

impl Claim {
    /// Takes a document.
    pub fn new(value: Value) -> Self {
        Self(value)
    }

    /// Whether it is a report at all.
    pub fn is_object(&self) -> bool {
        self.0.is_object()
    }

    /// The value of a field; null counts as absent.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key).filter(|value| !value.is_null())
    }

    /// The text of a field, unless it is blank.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty())
    }

    /// The list of cases, if there is one.
    pub fn case_list(&self) -> Option<&[Value]> {
        self.0.get("cases").and_then(Value::as_array).map(Vec::as_slice)
    }

    /// The cases, whatever they are.
    pub fn cases(&self) -> impl Iterator<Item = Entry<'_>> {
        self.list("cases", Kind::Case)
    }

    /// The fixtures, whatever they are.
    pub fn fixtures(&self) -> impl Iterator<Item = Entry<'_>> {
        self.list("fixtures", Kind::Fixture)
    }

    /// Cases, then fixtures.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        self.cases().chain(self.fixtures())
    }

    fn list(&self, key: &str, kind: Kind) -> impl Iterator<Item = Entry<'_>> {
        let list = self.0.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        list.iter().enumerate().map(move |(index, value)| Entry { kind, index, value })
    }
}

impl<'a> Entry<'a> {
    /// Its fields, unless it is no object.
    pub fn object(&self) -> Option<&'a Map<String, Value>> {
        self.value.as_object()
    }

    /// The value of a field; null counts as absent.
    pub fn get(&self, key: &str) -> Option<&'a Value> {
        self.value.get(key).filter(|value| !value.is_null())
    }

    /// The text of a field, unless it is blank.
    pub fn text(&self, key: &str) -> Option<&'a str> {
        self.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty())
    }

    /// A case's id.
    pub fn id(&self) -> Option<&'a str> {
        if self.kind == Kind::Case { self.text("id") } else { None }
    }

    /// A fixture's name and phase.
    pub fn fixture(&self) -> Option<(&'a str, Phase)> {
        if self.kind == Kind::Case {
            return None;
        }
        let name = self.text("name").filter(|name| FixtureTitle::is_name(name))?;
        let phase = self.text("phase")?;
        [Phase::Setup, Phase::Teardown]
            .into_iter()
            .find(|known| known.as_str() == phase)
            .map(|phase| (name, phase))
    }

    /// Whose entry it says it is.
    pub fn subject(&self) -> Option<Subject> {
        match self.kind {
            Kind::Case => CaseId::parse(self.id()?).map(Subject::Case),
            Kind::Fixture => self.fixture().map(|(name, phase)| Subject::Fixture(name.to_owned(), phase)),
        }
    }

    /// Its place: by id or name where it has one, else by index.
    pub fn place(&self) -> String {
        match self.kind {
            Kind::Case => match self.id() {
                Some(id) => format!("cases[{id}]"),
                None => format!("cases[{}]", self.index),
            },
            Kind::Fixture => match self.fixture() {
                Some((name, phase)) => format!("fixtures[{name} {}]", phase.as_str()),
                None => format!("fixtures[{}]", self.index),
            },
        }
    }

    /// Its verdict, if it is one of the four.
    pub fn verdict(&self) -> Option<Verdict> {
        let word = self.text("verdict")?;
        [Verdict::Pass, Verdict::Fail, Verdict::Flaky, Verdict::Blocked]
            .into_iter()
            .find(|known| known.as_str() == word)
    }

    /// Whether it says that it ran: anything but blocked.
    pub fn executed(&self) -> bool {
        self.verdict().is_some_and(Verdict::executed)
    }

    /// The paths of its records that are text.
    pub fn record_paths(self) -> impl Iterator<Item = &'a str> {
        let paths = self.get("writes").and_then(|writes| writes.get("paths")).and_then(Value::as_array);
        paths.map(Vec::as_slice).unwrap_or_default().iter().filter_map(Value::as_str)
    }

    /// A count in its `writes`; 0 when there is none.
    pub fn writes_count(&self, key: &str) -> u64 {
        self.get("writes").and_then(|writes| writes.get(key)).and_then(Value::as_u64).unwrap_or(0)
    }
}
