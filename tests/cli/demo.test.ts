import { join } from 'node:path';
import { formatFarewell } from '../../cli/commands/demo';
import { configDemo } from '../../cli/demo/config/story';
import type { ConfigDemoResult } from '../../cli/demo/config/summary';
import { serviceDemo } from '../../cli/demo/service';
import type { ServiceDemoResult } from '../../cli/demo/summary';
import { liveRegion } from '../../cli/live';
import { installRoot, loadRegistry } from '../../settings/registry';
import { deploy, NOW, release, revertedDeploy } from '../builders/cliSamples';

const good = deploy({
  id: 'kvstore/1/deploy',
  version: 'kv:12',
  state: 'ended',
  outcome: 'succeeded',
  classification: 'success',
  endedAt: '2026-11-20T14:01:55.000Z',
});
const bad = { ...revertedDeploy(), id: 'kvstore/2/deploy' };
const job = { name: 'kvstore-x', region: 'x', size: 6, versions: { 'kv:12': 6, 'kv:13': 0 }, jobVersion: 'kv:12' };
const promised: ServiceDemoResult = {
  releases: [release({ id: 'kvstore/1', state: 'succeeded' }), release({ id: 'kvstore/2', state: 'failed' })],
  deploys: [good, bad],
  jobs: [job],
};

describe('the demo', () => {
  test('that is left running says how to stop every process of it', () => {
    const addresses = { temporal: '127.0.0.1:1', webUi: '', simulator: '', server: '', taskQueue: 'conveyor' };
    const stack = { addresses, config: undefined, logFolder: '/logs', pids: () => ({ temporal: 11, worker: 12 }) };
    const farewell = formatFarewell({ stack, children: [{ pid: 13 }], next: serviceDemo.next(promised) });
    expect(farewell).toMatch(/To stop it:\n {2}kill 13 11 12$/);
    expect(farewell).toContain('npx --no-install conveyor status kvstore/2/deploy\n');
  });

  test('has nothing to complain about when it went as promised', () => {
    expect(serviceDemo.surprise(promised)).toBeNull();
  });

  test.each<[string, Partial<ServiceDemoResult>, RegExp]>([
    [
      'the good version failed',
      { releases: [release({ id: 'kvstore/1', state: 'failed' })] },
      /kvstore\/1 should have succeeded/,
    ],
    [
      'the bad version stayed',
      { deploys: [good, { ...bad, outcome: 'succeeded' }] },
      /should have been reverted, but its deploy is succeeded/,
    ],
    ['no check found it', { deploys: [good, { ...bad, health: good.health }] }, /no check of kvstore\/2\/deploy/],
    [
      'a task is left on it',
      { jobs: [{ ...job, versions: { 'kv:12': 5, 'kv:13': 1 } }] },
      /kvstore-x should run kv:12 only/,
    ],
  ])('says so when %s', (_title, over, expected) => {
    expect(serviceDemo.surprise({ ...promised, ...over })).toMatch(expected);
  });

  test('sums up what was shipped, why it was reverted and what runs now', () => {
    const text = serviceDemo.render(promised, { width: 120, color: false, now: NOW, timeZone: 'UTC' });
    expect(text.split('\n').slice(0, 8)).toEqual([
      'DEPLOY            VERSION  OUTCOME      TOOK',
      'kvstore/1/deploy  kv:12    ✔ succeeded  25s',
      'kvstore/2/deploy  kv:13    ↩ reverted   38s',
      '',
      'Why kv:13 was taken back',
      '  kvstore-x: the mean of 3 tasks is above the limit',
      '',
      'The fleet now',
    ]);
  });
});

describe('the demo of configuration', () => {
  const went: ConfigDemoResult = {
    releases: [release({ id: 'feed-limits/1', state: 'succeeded' }), release({ id: 'feed-limits/2', state: 'failed' })],
    deploys: [
      { ...good, id: 'feed-limits/1/deploy' },
      { ...bad, id: 'feed-limits/2/deploy' },
    ],
    store: 'a store',
    refused: 'feed/limits is refused: soft 500 is above hard 100',
    hosts: { total: 10, committed: 10, overridden: 0 },
  };

  test('takes back after five seconds what hosts refuse, so that it lasts half a minute', () => {
    const { settings } = loadRegistry(join(installRoot(), 'conveyor.config.yaml'), {});
    expect(settings.transientMs).toBe(5_000);
  });

  test('has nothing to complain about when it went as promised, and says where the configuration was', () => {
    expect(configDemo.surprise(went)).toBeNull();
    const text = configDemo.render(went, { width: 120, color: false, now: NOW, timeZone: 'UTC' });
    expect(text).toContain('10 of 10 have the feed/limits that was committed; the bad limit never was (a store)');
  });

  test.each<[string, Partial<ConfigDemoResult>, RegExp]>([
    ['the mistake could be proposed', { refused: '' }, /the rule of feed\/limits should have refused/],
    [
      'the good limit did not land',
      { releases: [release({ id: 'feed-limits/1', state: 'failed' })] },
      /feed-limits\/1 should have succeeded/,
    ],
    [
      'the bad limit stayed',
      { deploys: [good, { ...bad, outcome: 'succeeded' }] },
      /should have been reverted, but its deploy is succeeded/,
    ],
    ['a host is left on it', { hosts: { total: 10, committed: 9, overridden: 1 } }, /9 of 10 have it, and 1 another/],
  ])('says so when %s', (_title, over, expected) => {
    expect(configDemo.surprise({ ...went, ...over })).toMatch(expected);
  });
});

describe('the live region', () => {
  const terminal = (
    rows = 10,
  ): { columns: number; rows: number; isTTY: boolean; written: string[]; write: (text: string) => void } => {
    const written: string[] = [];
    return { columns: 20, rows, isTTY: true, written, write: (text) => void written.push(text) };
  };

  test('goes back to where it began and draws again, and only when something changed', () => {
    const screen = terminal();
    const region = liveRegion(screen);
    region.draw('one\ntwo');
    region.draw('one\ntwo');
    region.draw('one\n2');
    region.end();
    expect(screen.written).toEqual([
      '\u001b[?25l\u001b[2Kone\n\u001b[2Ktwo\n\u001b[0J',
      '\u001b[2A\r\u001b[2Kone\n\u001b[2K2\n\u001b[0J',
      '\u001b[?25h',
    ]);
  });

  test('never draws more than fits, and says how much is missing', () => {
    const screen = terminal(5);
    liveRegion(screen).draw('1\n2\n3\n4\n5\n6');
    expect(screen.written.join('').split('\n').slice(0, -1)).toHaveLength(4);
    expect(screen.written.join('')).toContain('… 3 more lines');
  });

  test('draws a link whole, and goes back over all of its rows', () => {
    const screen = terminal();
    const region = liveRegion(screen);
    const link = `https://temporal.example/${'x'.repeat(20)}`;
    region.draw(`one\n${link}`);
    region.draw(`two\n${link}`);
    // A line of one row, and a link of three.
    expect(screen.written.at(-1)).toBe(`\u001b[4A\r\u001b[2Ktwo\n\u001b[0J${link}\n\u001b[0J`);
    liveRegion(screen).draw(`${'line\n'.repeat(7)}${link}`);
    expect(screen.written.at(-1)).not.toContain('https');
    expect(screen.written.at(-1)).toContain('… 1 more line');
  });

  test('begins on a clear screen when the width changed, because the old lines have wrapped', () => {
    const screen = terminal();
    const region = liveRegion(screen);
    region.draw('one');
    screen.columns = 12;
    region.draw('one');
    expect(screen.written.at(-1)).toBe('\u001b[2J\u001b[H\u001b[2Kone\n\u001b[0J');
  });
});
