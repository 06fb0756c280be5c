#!/usr/bin/env python3
"""qa.py BIN -- COMMAND...: starts `BIN proxy` trusting the benchmark's origin, opens one attempt, and runs COMMAND with @PORT@
replaced by the attempt's port, e.g.  qa.py ../../target/dist/qa-pilot -- ./bench.py --only direct,hud-nodelay,mine --target mine=127.0.0.1:@PORT@"""
import json, os, subprocess, sys, tempfile, time, urllib.request
B = os.path.dirname(os.path.abspath(__file__)); R = os.environ.get('CARGO_TARGET_DIR', B + '/target') + '/release/'
i = sys.argv.index('--'); binary, cmd = os.path.abspath(sys.argv[1]), sys.argv[i + 1:]
if not os.path.exists(R + 'origin-cert.pem'):
    o = subprocess.Popen([R + 'origin', '--listen', '127.0.0.1:0', '--cert', R + 'origin-cert.pem'], stdout=subprocess.PIPE); o.stdout.readline(); o.kill()
sigs = [{'method': m, 'url': f'^https://never{n}\\.test/api/v[0-9]+/(orders|carts)/[0-9]+'} for n in range(20) for m in ('POST', 'DELETE')]
run = tempfile.mkdtemp(prefix='bench-run-')
env = {**os.environ, 'QA_PILOT_MUTATION': '{"policy":"read-only"}', 'QA_PILOT_MUTATION_CONFIG': json.dumps({'write_signatures': sigs})}
p = subprocess.Popen([binary, 'proxy', '--run-dir', run, '--upstream-ca', R + 'origin-cert.pem'], env=env, stdout=subprocess.PIPE, text=True)
try:
    ready = json.loads(p.stdout.readline())
    body = {'test_id': 'bench', 'retry': 0, 'title': 'bench', 'project': 'bench', 'file': 'bench', 'line': 1, 'repeat_each_index': 0, 'worker_index': 0, 'parallel_index': 0, 'output_dir': run + '/bench'}
    q = urllib.request.Request(ready['control'] + '/attempts', json.dumps(body).encode(), {'Authorization': 'Bearer ' + ready['token'], 'Content-Type': 'application/json'})
    port = json.load(urllib.request.build_opener(urllib.request.ProxyHandler({})).open(q))['proxy'].rsplit(':', 1)[1]
    sys.exit(subprocess.run([a.replace('@PORT@', port) for a in cmd], cwd=B).returncode)
finally:
    p.terminate()
