//! The client messages of a WebSocket: `*` and `WS` signatures whose URL and headers hold for its handshake judge each one.

use super::body::{Body, BodyText};
use super::decide::{Decision, Observation, Permit, Refusal, Scope, Situation, Standing};
use super::graphql::Operations;
use super::rules::{Hit, List, Rules};
use super::{ScopeRequests, SignatureMethod, WriteSignature};
use crate::model::{Policy, PolicyKind};
use std::cell::OnceCell;

/// What judges the client messages of one WebSocket.
#[derive(Debug)]
pub struct Messages {
    policy: Policy,
    enforce: bool,
    /// The URL carries the prefix.
    in_prefix: bool,
    write: Vec<(String, WriteSignature)>,
    allow: Vec<WriteSignature>,
    drop: Vec<WriteSignature>,
}

/// One message, or why there is none to look at.
#[derive(Debug)]
pub enum Message<'a> {
    /// UTF-8.
    Text(&'a [u8]),
    /// Any bytes; they are matched as text.
    Binary(&'a [u8]),
    /// It cannot be judged, and why.
    Unjudgeable(&'a str),
}

impl Messages {
    /// `None` when no signature speaks about the messages, or when an allow signature clears all of them.
    pub(super) fn new(rules: &Rules, hits: &[Hit<'_>], in_prefix: bool) -> Option<Self> {
        let about = |list: List, everywhere: bool| {
            hits.iter().filter(move |hit| {
                hit.list == list
                    && (hit.everywhere || !everywhere)
                    && !matches!(hit.signature.method, SignatureMethod::Http(_))
            })
        };
        let write: Vec<_> =
            about(List::Write, false).map(|hit| (hit.describe(), hit.signature.clone())).collect();
        let allow: Vec<_> = about(List::Allow, true).map(|hit| hit.signature.clone()).collect();
        let drop: Vec<_> = about(List::Drop, true).map(|hit| hit.signature.clone()).collect();
        if (write.is_empty() && drop.is_empty()) || allow.iter().any(|signature| !signature.needs_body()) {
            return None;
        }
        let enforce = rules.policy().kind() == PolicyKind::ScopedWrite
            && rules.config().scope_requests == ScopeRequests::Enforce;
        Some(Self { policy: rules.policy().clone(), enforce, in_prefix, write, allow, drop })
    }

    /// Decides about one message. What cannot be judged is refused under every policy: nobody knows where the next one begins.
    pub fn decide(&self, message: &Message<'_>, situation: &Situation<'_>) -> Decision {
        let refuse = |reason: String| Decision::Refuse(Refusal { reason, effective_method: None });
        if situation.standing == Standing::Full {
            return refuse("event limit".into());
        }
        let (bytes, is_text) = match message {
            Message::Text(bytes) => (*bytes, true),
            Message::Binary(bytes) => (*bytes, false),
            Message::Unjudgeable(why) => {
                return refuse(format!("a websocket message cannot be judged: {why}"));
            }
        };
        let body = match Body::message(bytes, is_text) {
            Ok(body) => body,
            Err(why) => return refuse(format!("a websocket message cannot be judged: {why}")),
        };
        let operations = OnceCell::new();
        let operations = || operations.get_or_init(|| Operations::of_message(&body));
        let fired = self.write.iter().find_map(|(named, signature)| {
            let doubt = fires(signature, &body, operations)?;
            Some(doubt.map_or_else(|| named.clone(), |doubt| format!("{named}; {doubt}")))
        });
        let holds = |signature: &WriteSignature| {
            signature.body.as_ref().is_none_or(|pattern| body.all(|text| pattern.is_match(text)))
                && (signature.graphql.is_empty() || operations().all(&signature.graphql))
        };
        let Some(reason) = fired.filter(|_| !self.allow.iter().any(holds)) else {
            return if self.drop.iter().any(holds) {
                Decision::Drop
            } else {
                Decision::Permit(Permit::new(None))
            };
        };
        if situation.standing == Standing::Late {
            return refuse(format!("{reason}, after its attempt had ended"));
        }
        let scope = match self.policy.kind() {
            PolicyKind::ReadOnly => return refuse(reason),
            PolicyKind::ScopedWrite => Some(self.scope(&body, situation)),
            PolicyKind::Unrestricted => None,
        };
        if self.enforce && scope == Some(Scope::Unproven) {
            return refuse(format!("{reason}, not proven to be in scope"));
        }
        Decision::Permit(Permit::new(Some(Observation { reason, effective_method: None, scope })))
    }

    fn scope(&self, body: &BodyText, situation: &Situation<'_>) -> Scope {
        if situation.is_on_scope_url() {
            return Scope::Url;
        }
        let carried = |prefix: &str| self.in_prefix || body.any(|text| text.contains(prefix));
        if self.policy.prefix().is_some_and(carried) { Scope::Prefix } else { Scope::Unproven }
    }
}

/// Whether a write signature fires, and what is in doubt about that.
fn fires<'o>(
    signature: &WriteSignature,
    body: &BodyText,
    operations: impl Fn() -> &'o Operations,
) -> Option<Option<String>> {
    if signature.body.as_ref().is_some_and(|pattern| !body.any(|text| pattern.is_match(text))) {
        return None;
    }
    if signature.graphql.is_empty() {
        return Some(None);
    }
    match operations().any(&signature.graphql) {
        Ok(true) => Some(None),
        Ok(false) => None,
        Err(why) => Some(Some(format!("its GraphQL operations cannot be judged: {why}"))),
    }
}

#[cfg(test)]
#[path = "messages_tests.rs"]
mod tests;
