//! Judging the client messages of one socket, and recording what was decided: each write is an event of its own.

use super::relay::{Judging, Refused};
use crate::policy::{Decision, Message, Messages, Permit, Situation};
use crate::proxy::conn::Conn;
use crate::proxy::judge::note_permitted;
use crate::proxy::note::event;
use crate::record::{Event, EventAction};
use http::{HeaderMap, header};
use std::rc::Rc;

/// What an event gives as the method of a message.
const METHOD: &str = "WS";

/// The judge of one socket.
pub(in crate::proxy) struct SocketJudge {
    conn: Rc<Conn>,
    messages: Messages,
    url: String,
    page: Option<String>,
}

impl SocketJudge {
    /// For the socket at `url` whose handshake had `headers`.
    pub(in crate::proxy) fn new(conn: &Rc<Conn>, messages: Messages, url: &str, headers: &HeaderMap) -> Self {
        let page = headers.get(header::REFERER).and_then(|page| page.to_str().ok());
        Self { conn: conn.clone(), messages, url: url.into(), page: page.map(Into::into) }
    }
}

impl Judging for SocketJudge {
    fn limit(&self) -> usize {
        self.conn.proxy().max_body
    }

    fn judge(&self, message: &Message<'_>) -> Result<Option<Permit>, Refused> {
        // The attempt that the message belongs to is the one that is open when it comes.
        let ledger = self.conn.ledger();
        let standing = ledger.standing();
        let page = self.page.as_deref();
        let decision = ledger.with(|recorder| {
            self.messages.decide(message, &Situation { standing, scopes: recorder.scopes(), page })
        });
        match decision {
            Decision::Permit(permit) => match note_permitted(&ledger, &permit, METHOD, &self.url, true) {
                Ok(_) => Ok(Some(permit)),
                Err(_) => Err(Refused),
            },
            Decision::Drop => {
                ledger.with(|recorder| recorder.dropped());
                Ok(None)
            }
            Decision::Refuse(refusal) => {
                let mut event = event(EventAction::Block, &refusal.reason, METHOD, &self.url);
                event.source = Some("websocket".into());
                ledger.add(Event::Request(event));
                Err(Refused)
            }
        }
    }
}
