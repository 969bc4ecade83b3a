import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { stringify } from 'yaml';

/** `conveyor push-type NAME` as an operator starts it: the compiled command line, which becomes the compiled push type. */

const COMMAND = join(__dirname, '../../bin/conveyor.js');
const folder = mkdtempSync(join(tmpdir(), 'conveyor-push-types-'));
const children = new Set<ChildProcess>();
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  children.clear();
});
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

const kubeconfig = {
  'current-context': 'fake',
  clusters: [{ name: 'fake', cluster: { server: 'http://127.0.0.1:1' } }],
  contexts: [{ name: 'fake', context: { cluster: 'fake' } }],
};
const committer = { name: 'Conveyor', email: 'conveyor@example.com' };

function writeSettings(value: unknown): string {
  writeFileSync(join(folder, 'kubeconfig'), stringify(kubeconfig));
  const path = join(folder, 'settings.yaml');
  writeFileSync(path, typeof value === 'string' ? value : stringify(value));
  return path;
}

function start(...args: readonly string[]) {
  const child = spawn(process.execPath, [COMMAND, 'push-type', ...args], {
    ...{ stdio: ['ignore', 'pipe', 'pipe'] as const, cwd: folder },
    env: { PATH: process.env['PATH'] ?? '', NO_COLOR: '1' },
  });
  children.add(child);
  return child;
}

async function runToExit(...args: readonly string[]): Promise<{ readonly code: number; readonly err: string }> {
  const child = start(...args);
  child.stdout.resume();
  const [err, [code]] = await Promise.all([text(child.stderr), once(child, 'exit') as Promise<[number]>]);
  return { code, err };
}

describe('a shipped push type', () => {
  test.each([
    ['kubernetes', '--clusters', { clusters: { 'eu-1': { kubeconfig: 'kubeconfig' } } }, '(clusters eu-1)'],
    [
      'git-commit',
      '--settings',
      {
        repositories: { deployments: { url: 'file:///none/deployments.git', committer } },
        environments: { eu: { wait: { url: 'http://127.0.0.1:1' } } },
      },
      '(deployments; 1 environments)',
    ],
  ])('%s is ready with right settings, answers, and ends with 0 at SIGTERM', async (name, flag, settings, clusters) => {
    const child = start(name, flag, writeSettings(settings), '--port', '0', '--home', join(folder, name));
    const failed = text(child.stderr);
    const ended = once(child, 'exit');
    let ready = '';
    for await (ready of createInterface({ input: child.stdout })) break;
    expect([ready, ready === '' ? await failed : '']).toEqual([
      expect.stringMatching(new RegExp(`^${name} ready on http://127\\.0\\.0\\.1:\\d+ `)),
      '',
    ]);
    expect(ready).toContain(clusters);
    const answer = await fetch(`${/http:\S+/.exec(ready)?.[0]}/openapi.json`);
    expect(answer.status).toBe(200);
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  });

  test.each([
    ['kubernetes', '--clusters', { clusters: {} }, 'clusters: expected a cluster'],
    [
      'git-commit',
      '--settings',
      { repositories: {}, environments: { eu: { wait: { argo: 'x' } } } },
      'environments.eu.wait: expected argocd, flux, program or url',
    ],
  ])('%s with wrong settings ends with 1, and names the file and the place', async (name, flag, settings, message) => {
    const file = writeSettings(settings);
    const { code, err } = await runToExit(name, flag, file, '--port', '0');
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining(`error: ${file}: ${message}`) as string });
  });

  test.each([
    ['hosts', '--inventory'],
    ['slowroll', '--settings'],
    ['kubernetes', '--clusters'],
    ['git-commit', '--settings'],
  ])('%s names its file if that is missing or not YAML, and quotes nothing of it', async (name, flag) => {
    expect(await runToExit(name)).toMatchObject({ code: 2, err: expect.stringContaining(flag) as string });
    const missing = join(folder, 'missing.yaml');
    const none = await runToExit(name, flag, missing);
    expect(none).toEqual({ code: 1, err: expect.stringContaining(`error: ${missing} cannot be read: `) as string });
    const broken = writeSettings('token: secret: value\n');
    const { code, err } = await runToExit(name, flag, broken);
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining(`${broken} is not YAML: `) as string });
    expect(err).toContain('at line 1');
    expect(err).not.toContain('secret');
  });

  test.each([
    ['kubernetes', '--clusters', 'CONVEYOR_KUBERNETES_TOKEN', { clusters: { a: { kubeconfig: 'kubeconfig' } } }],
    ['git-commit', '--settings', 'CONVEYOR_GIT_COMMIT_TOKEN', { repositories: {}, environments: {} }],
  ])('%s without a token refuses to listen for other machines', async (name, flag, variable, settings) => {
    const { code, err } = await runToExit(name, flag, writeSettings(settings), '--host', '0.0.0.0', '--port', '0');
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringContaining(`without ${variable} it listens`) as string,
    });
  });
});
