import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildEntryArgs } from '../../configerator/entry';
import { claim } from '../../settings/claim';
import { eventually } from '../system/waiting';

const folder = mkdtempSync(join(tmpdir(), 'conveyor-claim-'));
const children: ChildProcessWithoutNullStreams[] = [];
afterAll(async () => {
  for (const child of children) await killed(child);
  rmSync(folder, { recursive: true, force: true });
});

let count = 0;
const newFile = (): string => join(folder, `state-${(count += 1)}`);
const lost: Error[] = [];
const options = { what: 'the state', onLost: (error: Error) => void lost.push(error) };

/** Another process that wants it; what it says. */
async function claimer(file: string) {
  const child = spawn(process.execPath, [...buildEntryArgs(join(__dirname, 'claimer'), true), file]);
  children.push(child);
  let said = '';
  child.stdout.on('data', (part: Buffer) => void (said += String(part)));
  await eventually('it says something', () => Promise.resolve(said.includes('\n')));
  return { child, said: said.trim() };
}

async function killed(child: ChildProcessWithoutNullStreams): Promise<void> {
  const ended = new Promise((resolve) => child.once('exit', resolve));
  if (child.exitCode === null && child.kill('SIGKILL')) await ended;
}

/** A claim of another process, as a file. */
const claimOf = (file: string, over: object): void => {
  const mine = claim(file, options);
  const text = readFileSync(file, 'utf8');
  mine.release();
  writeFileSync(file, JSON.stringify({ ...(JSON.parse(text) as object), token: 'other', ...over }));
};

describe('files that one process may write', () => {
  test('are refused to a second one, which learns who has them since when, until they are released', async () => {
    const file = newFile();
    const first = claim(file, options);
    const second = await claimer(file);
    expect(second.said).toMatch(
      new RegExp(`the state is in use by process ${process.pid} on ${hostname()}, since 20\\d\\d-.*Z`),
    );
    first.release();
    expect((await claimer(file)).said).toBe('has it');
    expect(() => claim(file, options)).toThrow(/in use by process/);
  });

  test('are free at once when their holder was killed', async () => {
    const file = newFile();
    const { child, said } = await claimer(file);
    expect(said).toBe('has it');
    await killed(child);
    claim(file, options).release();
  });

  test('are free when the process id of their holder is now that of another process', () => {
    const file = newFile();
    claimOf(file, { started: '1' });
    claim(file, options).release();
  });

  test('are those of another machine until that has been silent for 20 s', () => {
    const file = newFile();
    claimOf(file, { machine: 'another', host: 'web-9', pid: 1 });
    expect(() => claim(file, options)).toThrow(/in use by process 1 on web-9/);
    utimesSync(file, new Date(), Date.now() / 1000 - 21);
    claim(file, options).release();
  });

  test('are free when what stands there is no claim and was not touched for 20 s', () => {
    const file = newFile();
    writeFileSync(file, '');
    expect(() => claim(file, options)).toThrow(/in use by another process/);
    utimesSync(file, new Date(), Date.now() / 1000 - 21);
    claim(file, options).release();
  });

  test('go to one of several that take them over at once, and nothing else is left in the folder', async () => {
    const file = newFile();
    claimOf(file, { started: '1' });
    const all = await Promise.all(Array.from({ length: 5 }, () => claimer(file)));
    expect(all.filter(({ said }) => said === 'has it')).toHaveLength(1);
    expect(readdirSync(folder).filter((name) => join(folder, name).startsWith(`${file}.`))).toEqual([]);
  });

  test('are given up by a process that finds another in its place', async () => {
    const file = newFile();
    claim(file, { ...options, beatMs: 5 });
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, JSON.stringify({ ...(JSON.parse(text) as object), token: 'other', pid: 1, host: 'web-9' }));
    await eventually('it notices', () => Promise.resolve(lost.length > 0));
    expect(lost[0]?.message).toMatch(/in use by process 1 on web-9/);
    expect(readFileSync(file, 'utf8')).toContain('web-9');
  });

  test('are claimed anew when the folder is emptied', async () => {
    const file = newFile();
    const mine = claim(file, { ...options, beatMs: 5 });
    rmSync(file);
    await eventually('it is back', () => Promise.resolve(readdirSync(folder).some((it) => join(folder, it) === file)));
    mine.release();
  });
});
