//! Whether a request may pass. The only maker of a [`Permit`], without which nothing is forwarded.
//!
//! A request that fires no write signature passes. One that does is cleared by an allow signature, which must hold for every
//! spelling of the URL, every method that is claimed and every reading of the body; a write signature fires on any of them.
//! What is left is a write: read-only blocks it, scoped-write and unrestricted observe it. A rule whose body cannot be read
//! applies.

use super::body::Body;
use super::graphql::Operations;
use super::messages::Messages;
use super::request::Request;
use super::rules::{Hit, List, Rules};
use super::{ScopeRequests, SignatureMethod, UnsafeMethods, WriteSignature};
use crate::model::PolicyKind;
use crate::pattern::Pattern;
use std::cell::OnceCell;

/// How a write is known to be in scope, under scoped-write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The page's URL matches a scope URL.
    Url,
    /// URL or body carries the prefix.
    Prefix,
    /// Neither, as far as was seen.
    Unproven,
}

/// Whether the record that this request belongs to is still open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is.
    Open,
    /// Its attempt has ended: reads are answered, writes are not.
    Late,
    /// It holds as many events as a record may: nothing passes.
    Full,
}

/// What surrounds a request.
#[derive(Clone, Copy, Debug)]
pub struct Situation<'a> {
    /// The state of the record.
    pub standing: Standing,
    /// Scope URLs that the spec set.
    pub scopes: &'a [Pattern],
    /// The URL of the page that sent it, when it is known.
    pub page: Option<&'a str>,
}

/// Leave to forward one request, tunnel or message; only deciding about it gives one.
#[derive(Debug)]
pub struct Permit {
    observed: Option<Observation>,
    unclassified: bool,
}

/// A write that passes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// The signature that fired.
    pub reason: String,
    /// The claimed method that made it fire, when that is not the wire method.
    pub effective_method: Option<String>,
    /// Under scoped-write.
    pub scope: Option<Scope>,
}

/// A request that does not pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The signature that fired, or what could not be judged.
    pub reason: String,
    /// The claimed method that made it fire, when that is not the wire method.
    pub effective_method: Option<String>,
}

/// What is to be done with a request.
#[derive(Debug)]
pub enum Decision {
    /// Forward it.
    Permit(Permit),
    /// Answer it with the reason and record it.
    Refuse(Refusal),
    /// Answer it as if it had been done, and count it.
    Drop,
}

impl Situation<'_> {
    /// Whether the page is known and is on a scope URL.
    pub(super) fn is_on_scope_url(&self) -> bool {
        self.page.is_some_and(|page| self.scopes.iter().any(|scope| scope.is_match(page)))
    }
}

impl Permit {
    /// For what was judged to be no write, or to be one that may pass.
    pub(super) fn new(observed: Option<Observation>) -> Self {
        Self { observed, unclassified: false }
    }

    /// The write that passes with it, if it is one.
    pub fn observed(&self) -> Option<&Observation> {
        self.observed.as_ref()
    }

    /// Whether the method usually writes and no signature spoke.
    pub fn is_unclassified(&self) -> bool {
        self.unclassified
    }
}

impl Rules {
    /// Decides about a tunnel whose bytes are neither TLS nor HTTP: only an unrestricted run may send what nobody can read.
    pub fn decide_opaque(&self, standing: Standing) -> Decision {
        let reason = "bytes that are neither tls nor http".to_owned();
        if self.policy().kind() == PolicyKind::Unrestricted && standing == Standing::Open {
            let observed = Observation { reason, effective_method: None, scope: None };
            return Decision::Permit(Permit::new(Some(observed)));
        }
        Decision::Refuse(Refusal { reason, effective_method: None })
    }
}

/// One request between its head and its decision.
#[derive(Debug)]
pub struct Examination<'r> {
    rules: &'r Rules,
    request: Request,
    hits: Vec<Hit<'r>>,
    body: Body,
    /// Its body is a form, so that a field of it may claim another method.
    form: bool,
    /// Once a signature asks for them.
    operations: OnceCell<Operations>,
}

/// Why a request is a write.
pub(super) struct Write {
    reason: String,
    effective_method: Option<String>,
}

impl<'r> Examination<'r> {
    pub(super) fn new(
        rules: &'r Rules,
        request: Request,
        hits: Vec<Hit<'r>>,
        body: Body,
        form: bool,
    ) -> Self {
        Self { rules, request, hits, body, form, operations: OnceCell::new() }
    }

    pub(super) fn hits(&self) -> &[Hit<'r>] {
        &self.hits
    }

    /// What is judged.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// Whether the body must be held before the request can be decided.
    pub fn needs_body(&self, situation: &Situation<'_>) -> bool {
        if !matches!(self.body, Body::Unread) || situation.standing == Standing::Full {
            return false;
        }
        let speaks = |hit: &Hit<'_>| hit.signature.needs_body() && self.method_fires(hit.signature);
        let other_method = |hit: &Hit<'_>| self.form && !self.method_fires(hit.signature);
        let fired = self.fired().is_some();
        // A field may claim a method that the allow signature does not name.
        if fired && self.form && self.write().is_none() {
            return true;
        }
        if fired && self.write().is_some() {
            let may_clear = self
                .hits
                .iter()
                .any(|hit| hit.list == List::Allow && hit.everywhere && hit.signature.needs_body());
            return may_clear || (self.enforces_scope(situation) && self.scope(situation) == Scope::Unproven);
        }
        let other = self.hits.iter().any(|hit| hit.list == List::Write && other_method(hit));
        other || self.hits.iter().any(|hit| hit.list != List::Allow && speaks(hit))
    }

    /// For a WebSocket, what judges its client messages.
    pub fn messages(&self) -> Option<Messages> {
        let in_prefix = self.rules.policy().prefix().is_some_and(|prefix| self.url_carries(prefix));
        self.request.is_web_socket().then(|| Messages::new(self.rules, &self.hits, in_prefix)).flatten()
    }

    /// Adds what was read of the body.
    pub fn give_body(&mut self, body: Body) {
        if let Body::Text(text) = &body {
            for method in text.overrides() {
                self.request.claim(method);
            }
        }
        self.body = body;
        self.operations = OnceCell::new();
    }

    /// Decides.
    pub fn decide(self, situation: &Situation<'_>) -> Decision {
        let refuse = |write: Write| {
            Decision::Refuse(Refusal { reason: write.reason, effective_method: write.effective_method })
        };
        if situation.standing == Standing::Full {
            return refuse(Write { reason: "event limit".into(), effective_method: None });
        }
        if self.request.is_preflight() {
            return Decision::Permit(Permit::new(None));
        }
        let Some(write) = self.write() else {
            if self.hits.iter().any(|hit| hit.list == List::Drop && self.holds(hit)) {
                return Decision::Drop;
            }
            let spoken = self.hits.iter().any(|hit| hit.list == List::Allow && self.holds(hit));
            let unclassified = !spoken && self.request.claims().iter().any(|method| usually_writes(method));
            return Decision::Permit(Permit { observed: None, unclassified });
        };
        if situation.standing == Standing::Late {
            return refuse(Write {
                reason: format!("{}, after its attempt had ended", write.reason),
                ..write
            });
        }
        let scope = match self.rules.policy().kind() {
            PolicyKind::ReadOnly => return refuse(write),
            PolicyKind::ScopedWrite => Some(self.scope(situation)),
            PolicyKind::Unrestricted => None,
        };
        if self.enforces_scope(situation) && scope == Some(Scope::Unproven) {
            return refuse(Write { reason: format!("{}, not proven to be in scope", write.reason), ..write });
        }
        let observed = Observation { reason: write.reason, effective_method: write.effective_method, scope };
        Decision::Permit(Permit::new(Some(observed)))
    }

    /// The first reason why it is a write, if no allow signature clears it.
    fn write(&self) -> Option<Write> {
        let write = self.fired()?;
        let cleared = self.hits.iter().any(|hit| hit.list == List::Allow && self.holds(hit));
        (!cleared).then_some(write)
    }

    fn fired(&self) -> Option<Write> {
        let fired = self.hits.iter().filter(|hit| hit.list == List::Write).find_map(|hit| self.fires(hit));
        fired.or_else(|| self.unsafe_write())
    }

    fn unsafe_write(&self) -> Option<Write> {
        if self.rules.config().unsafe_methods != UnsafeMethods::Deny {
            return None;
        }
        // What a drop signature names is answered here and never sent, so it need not be a write.
        if self.hits.iter().any(|hit| hit.list == List::Drop && self.holds(hit)) {
            return None;
        }
        let method = self.request.claims().iter().find(|method| usually_writes(method))?;
        Some(Write { reason: format!("unsafe method {method}"), effective_method: self.effective(method) })
    }

    /// Whether a write signature fires, on any claim, spelling or reading.
    pub(super) fn fires(&self, hit: &Hit<'_>) -> Option<Write> {
        let signature = hit.signature;
        let method = self.claim_for(signature);
        let by_method = method.is_some();
        let unreadable = match &self.body {
            Body::Unjudgeable(why) => Some(why.as_str()),
            _ => None,
        };
        // A form that cannot be read may claim any method.
        let may_claim =
            self.form && unreadable.is_some() && matches!(signature.method, SignatureMethod::Http(_));
        if !by_method && !may_claim {
            return None;
        }
        let in_body = |why: &str| format!("the body cannot be judged: {why}");
        let mut doubt = if by_method { None } else { unreadable.map(in_body) };
        if let Some(pattern) = &signature.body {
            match &self.body {
                Body::Absent | Body::Unread => return None,
                Body::Text(text) if !text.any(|text| pattern.is_match(text)) => return None,
                Body::Text(_) => {}
                Body::Unjudgeable(why) => doubt = Some(in_body(why)),
            }
        }
        if !signature.graphql.is_empty() {
            match &self.body {
                Body::Unread => return None,
                Body::Unjudgeable(why) => doubt = Some(in_body(why)),
                Body::Absent | Body::Text(_) => match self.operations().any(&signature.graphql) {
                    Ok(true) => {}
                    Ok(false) => return None,
                    Err(why) => doubt = Some(format!("its GraphQL operations cannot be judged: {why}")),
                },
            }
        }
        let named = hit.describe();
        let reason = match doubt {
            Some(doubt) => format!("{named}; {doubt}"),
            None => named,
        };
        Some(Write { reason, effective_method: method.and_then(|method| self.effective(method)) })
    }

    /// Whether an allow or drop signature holds, for every claim, spelling and reading.
    pub(super) fn holds(&self, hit: &Hit<'_>) -> bool {
        let signature = hit.signature;
        let method = match signature.method {
            SignatureMethod::Any => true,
            SignatureMethod::Http(method) => self.request.claims().iter().all(|claim| claim == method),
            SignatureMethod::WebSocket => false,
        };
        let body = match (&signature.body, &self.body) {
            (None, _) => true,
            (Some(pattern), Body::Text(text)) => text.all(|text| pattern.is_match(text)),
            (Some(_), _) => false,
        };
        // A form that was not or could not be read may claim a method beside those that are known.
        let sure = !(self.form && matches!(self.body, Body::Unjudgeable(_)));
        let graphql = signature.graphql.is_empty()
            || (matches!(self.body, Body::Absent | Body::Text(_))
                && self.operations().all(&signature.graphql));
        hit.everywhere && method && body && sure && graphql
    }

    fn operations(&self) -> &Operations {
        self.operations.get_or_init(|| Operations::of_request(self.request.url(), &self.body))
    }

    fn method_fires(&self, signature: &WriteSignature) -> bool {
        self.claim_for(signature).is_some()
    }

    /// The claimed method that a signature names.
    fn claim_for(&self, signature: &WriteSignature) -> Option<&str> {
        match signature.method {
            SignatureMethod::Any => Some(self.request.method()),
            SignatureMethod::Http(method) => {
                self.request.claims().iter().find(|claim| *claim == method).map(String::as_str)
            }
            SignatureMethod::WebSocket => None,
        }
    }

    fn effective(&self, method: &str) -> Option<String> {
        (!method.eq_ignore_ascii_case(self.request.method())).then(|| method.to_owned())
    }

    fn enforces_scope(&self, situation: &Situation<'_>) -> bool {
        self.rules.policy().kind() == PolicyKind::ScopedWrite
            && self.rules.config().scope_requests == ScopeRequests::Enforce
            && situation.standing == Standing::Open
    }

    fn scope(&self, situation: &Situation<'_>) -> Scope {
        if situation.is_on_scope_url() {
            return Scope::Url;
        }
        let Some(prefix) = self.rules.policy().prefix() else { return Scope::Unproven };
        let in_body = matches!(&self.body, Body::Text(text) if text.any(|text| text.contains(prefix)));
        if self.url_carries(prefix) || in_body { Scope::Prefix } else { Scope::Unproven }
    }

    fn url_carries(&self, prefix: &str) -> bool {
        self.request.forms().flatten().any(|form| form.contains(prefix))
    }
}

fn usually_writes(method: &str) -> bool {
    matches!(method, "POST" | "PUT" | "PATCH" | "DELETE")
}

#[cfg(test)]
#[path = "decide_tests.rs"]
mod tests;
