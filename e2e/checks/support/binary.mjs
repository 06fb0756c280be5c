// Which qa-pilot the checks run: QA_PILOT_BIN, else the release build, else the debug build.
import { existsSync, realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export function qaPilot() {
  const candidates = process.env.QA_PILOT_BIN
    ? [process.env.QA_PILOT_BIN]
    : ['release', 'debug'].map((profile) => fileURLToPath(new URL(`../../../target/${profile}/qa-pilot`, import.meta.url)));
  const found = candidates.find((path) => existsSync(path));
  if (!found) throw new Error(`no qa-pilot at ${candidates.join(' or ')}: build it with cargo, or set QA_PILOT_BIN`);
  return realpathSync(found);
}
