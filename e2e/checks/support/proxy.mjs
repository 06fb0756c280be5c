// `qa-pilot proxy` as a person starts it.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { qaPilot } from './binary.mjs';

/// Starts it and waits for its ready line. `call` asks the control API and throws on an error.
export async function startProxy(runDir, args = [], env = {}) {
  const child = spawn(qaPilot(), ['proxy', '--run-dir', runDir, ...args], {
    env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = new Promise((resolve) => child.once('exit', (code, signal) => resolve(code ?? signal)));
  const line = await Promise.race([
    new Promise((resolve) => createInterface({ input: child.stdout }).once('line', resolve)),
    exited.then((code) => Promise.reject(new Error(`qa-pilot proxy ended with ${code} before it was ready`))),
  ]);
  const ready = JSON.parse(line);
  return {
    ready,
    pid: child.pid,
    call: async (method, path, body) => {
      const response = await fetch(`${ready.control}${path}`, {
        method,
        headers: { authorization: `Bearer ${ready.token}`, 'content-type': 'application/json' },
        body: body && JSON.stringify(body),
      });
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
      return response.status === 204 ? null : response.json();
    },
    stop: () => {
      child.kill('SIGTERM');
      return exited;
    },
  };
}
