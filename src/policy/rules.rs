//! The compiled rules of a run, and which of their signatures are about a request by its URL and headers.

use super::body::Body;
use super::decide::Examination;
use super::request::Request;
use super::url_set::UrlSet;
use super::{MutationConfig, WriteSignature};
use crate::model::Policy;
use crate::pattern::Pattern;
use http::HeaderMap;

/// The compiled rules of one run.
#[derive(Debug)]
pub struct Rules {
    policy: Policy,
    config: MutationConfig,
    /// Write, allow and drop signatures, in this order.
    urls: UrlSet,
}

/// Which list a signature stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum List {
    Write,
    Allow,
    Drop,
}

impl Rules {
    /// Compiles them.
    pub fn new(policy: Policy, config: MutationConfig) -> Self {
        let lists = [&config.write_signatures, &config.allow_signatures, &config.drop_signatures];
        let urls = UrlSet::new(lists.into_iter().flatten().map(|signature| signature.url.clone()).collect());
        Self { policy, config, urls }
    }

    /// The policy that is enforced.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// What the rules were compiled from.
    pub fn config(&self) -> &MutationConfig {
        &self.config
    }

    /// Tries every URL pattern and header condition on the request. `body` is [`Body::Absent`] or [`Body::Unread`].
    pub fn examine<'r>(&'r self, request: Request, headers: &HeaderMap, body: Body) -> Examination<'r> {
        let mut hits: Vec<Hit<'r>> = Vec::new();
        let mut forms = 0;
        for spellings in request.forms() {
            forms += 1;
            for url in spellings {
                self.urls.matching(url, |place| match hits.iter_mut().find(|hit| hit.place == place) {
                    Some(hit) if hit.last == forms => {}
                    Some(hit) => {
                        hit.forms += 1;
                        hit.last = forms;
                    }
                    None => {
                        if let Some((list, index, signature)) = self.signature(place) {
                            hits.push(Hit {
                                place,
                                list,
                                index,
                                signature,
                                forms: 1,
                                last: forms,
                                everywhere: false,
                            });
                        }
                    }
                });
            }
        }
        hits.sort_unstable_by_key(|hit| hit.place);
        hits.retain_mut(|hit| {
            let (any, all) = headers_hold(&hit.signature.headers, headers);
            hit.everywhere = hit.forms == forms && all;
            any
        });
        let form = matches!(body, Body::Unread) && Body::is_form(headers);
        Examination::new(self, request, hits, body, form)
    }

    fn signature(&self, place: usize) -> Option<(List, usize, &WriteSignature)> {
        let writes = self.config.write_signatures.len();
        let allows = self.config.allow_signatures.len();
        let (list, index, signatures) = if place < writes {
            (List::Write, place, &self.config.write_signatures)
        } else if place < writes + allows {
            (List::Allow, place - writes, &self.config.allow_signatures)
        } else {
            (List::Drop, place - writes - allows, &self.config.drop_signatures)
        };
        signatures.get(index).map(|signature| (list, index, signature))
    }
}

/// For write signatures one value of the header is enough; to clear, all must match.
fn headers_hold(conditions: &[(String, Pattern)], headers: &HeaderMap) -> (bool, bool) {
    let (mut any, mut all) = (true, true);
    for (name, pattern) in conditions {
        let (mut matched, mut total) = (0, 0);
        for value in headers.get_all(name.as_str()) {
            total += 1;
            matched += usize::from(pattern.is_match(&String::from_utf8_lossy(value.as_bytes())));
        }
        any &= matched > 0;
        all &= matched > 0 && matched == total;
    }
    (any, all)
}

/// A signature whose URL and headers hold for the request.
#[derive(Debug)]
pub(super) struct Hit<'r> {
    place: usize,
    pub(super) list: List,
    pub(super) index: usize,
    pub(super) signature: &'r WriteSignature,
    forms: usize,
    last: usize,
    /// For every form of the URL and every value of the headers.
    pub(super) everywhere: bool,
}

impl Hit<'_> {
    /// The signature as reasons name it.
    pub(super) fn describe(&self) -> String {
        let signature = self.signature;
        let note = signature.note.as_deref().map(|note| format!(" ({note})")).unwrap_or_default();
        format!(
            "write signature {}: {} {}{note}",
            self.index,
            signature.method.as_str(),
            signature.url.source()
        )
    }
}
