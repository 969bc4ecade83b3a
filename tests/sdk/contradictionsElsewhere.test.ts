import { actionServiceProtocol } from '../../sdk/protocol/actionService';
import { artifactFinderProtocol } from '../../sdk/protocol/artifactFinder';
import { dataSourceProtocol } from '../../sdk/protocol/dataSource';
import { dependencyGraphProtocol } from '../../sdk/protocol/dependencyGraph';
import { taskControllerProtocol } from '../../sdk/protocol/taskController';
import { wrongIn } from '../builders/wrongIn';

const SHA256 = `sha256:${'0aF9'.repeat(16)}`;
const made = (name: string, version: string, more: object = {}) => ({ name, version, kind: 'source', ...more });

describe('artifacts of a finder', () => {
  const asked = ['web', 'shop'].map((pipeline) => ({ pipeline, artifact: 'input', with: {} }));
  const row = (version: string, more: object = {}, pipeline = 'web') => ({
    pipeline,
    artifact: made('input', version, more),
  });
  const numbered = (version: string, sequence: string) => row(version, { metadata: { sequence } });
  const refusal = (pipeline: string) => ({ pipeline, artifact: 'input', message: 'no' });
  const check = (found: object[], refused: object[] = []) =>
    wrongIn(artifactFinderProtocol, 'getArtifacts', { subscriptions: asked }, { found, refused, cursor: '7' });

  test.each<[string, object[], object[], string]>([
    ['a row twice', [row('1'), row('1')], [], 'found.1.artifact: web, input, input@1 appears twice'],
    [
      'a pipeline that was not asked for',
      [row('1', {}, 'other')],
      [],
      'found.0.artifact: other, input was not asked for',
    ],
    [
      'an artifact that was not asked for',
      [{ pipeline: 'web', artifact: made('x', '1') }],
      [],
      'found.0.artifact: web, x was not asked for',
    ],
    [
      'a digest that is none',
      [row('1', { digest: 'sha256:abc' })],
      [],
      'found.0.artifact.digest: sha256:abc is not a sha256 digest: 64 hexadecimal digits must follow sha256:',
    ],
    ['a digest without digits', [row('1', { digest: 'sha512:' })], [], 'sha512: is not a sha512 digest'],
    [
      'an order that goes back',
      [numbered('b', '8'), numbered('a', '7')],
      [],
      'found.1.artifact.metadata.sequence: 7 comes after 8, but the oldest must come first',
    ],
    [
      'a version that follows itself',
      [row('b', { metadata: { before: 'b' } })],
      [],
      'metadata.before: b follows itself',
    ],
    ['one refused twice', [], [refusal('web'), refusal('web')], 'refused.1.artifact: web, input appears twice'],
    ['one refused that was not asked for', [], [refusal('x')], 'refused.0.artifact: x, input was not asked for'],
    ['one found and refused', [row('1')], [refusal('web')], 'refused.0.artifact: web, input is also in found'],
  ])('is not believed with %s', async (_, found, refused, sentence) => {
    expect(await check(found, refused)).toContain(sentence);
  });

  test.each<[string, object[], object[]]>([
    ['nothing', [], []],
    ['some of it', [row('1')], []],
    ['several of one, the oldest first', [numbered('a', '7'), numbered('b', '8'), numbered('c', '8')], []],
    ['one version under two digests', [row('1', { digest: SHA256 }), row('1', { digest: 'git:12' })], []],
    ['numbers of others', [numbered('b', '8'), row('a', { metadata: { sequence: '7' } }, 'shop')], []],
    ['commits whose clocks differ', [row('a', { metadata: { committedAt: '2099-01-01' } }), row('b')], []],
    ['one served and the other refused', [row('1')], [refusal('shop')]],
  ])('is believed with %s', async (_, found, refused) => {
    expect(await check(found, refused)).toBe('');
  });
});

describe('answers of an action service', () => {
  const start = (runId: string) => wrongIn(actionServiceProtocol, 'startRun', { runId: 'web/1/test/1' }, { runId });
  const run = (answer: object) => wrongIn(actionServiceProtocol, 'getRunProgress', { runId: 'r' }, answer);
  const outputs = (...all: object[]) => ({ state: 'succeeded', outputs: all });

  test('is not believed about another run', async () => {
    expect(await start('web/2/test/1')).toContain('runId: web/2/test/1 is not the run asked for, web/1/test/1');
    expect(await start('web/1/test/1')).toBe('');
  });

  test.each<[string, object, string]>([
    [
      'success half-way',
      { state: 'succeeded', progress: 0.4 },
      'progress: a run that succeeded has progress 1, not 0.4',
    ],
    ['more than all', { state: 'running', progress: 1.5 }, 'progress: Too big: expected number to be <=1 (it is 1.5)'],
    ['an output twice', outputs(made('kv', '1'), made('kv', '2')), 'outputs.1.name: kv appears twice'],
    ['a digest that is none', outputs(made('kv', '1', { digest: 'sha256:zz' })), 'outputs.0.digest: sha256:zz is no'],
  ])('is not believed with %s', async (_, answer, sentence) => {
    expect(await run(answer)).toContain(sentence);
  });

  test.each<[string, object]>([
    ['a run that continues', { state: 'running', progress: 1 }],
    ['one that begins again from the front', { state: 'running', progress: 0 }],
    ['one that failed on the way', { state: 'failed', progress: 0.4 }],
    ['one that says nothing more', { state: 'succeeded' }],
    ['its outputs', outputs(made('kv', '1', { digest: SHA256 }), made('log', '1'))],
  ])('is believed with %s', async (_, answer) => {
    expect(await run(answer)).toBe('');
  });
});

describe('the samples of a data source', () => {
  const ask = (answer: object | string, selector: object = { unit: 'x', tasks: ['a', 'b'] }) =>
    wrongIn(dataSourceProtocol, 'query', { metric: 'm', selector, start: 0, end: 9, step: 1 }, answer);
  const check = (series: object[], selector?: object) => ask({ series }, selector);
  const of = (task: string, ...points: number[][]) => ({ labels: { task }, points });

  test.each<[string, object[], string]>([
    ['a task twice', [of('a'), of('a')], 'series.1.labels.task: a appears twice'],
    ['a task that was not asked for', [of('c')], 'series.0.labels.task: c was not asked for'],
    [
      'a time that is none',
      [{ labels: {}, points: [[null, 5]] }],
      'series.0.points.0.0: Invalid input: expected number, received null (it is null)',
    ],
    ['a point without a value', [{ labels: {}, points: [[1]] }], '(it is [1])'],
  ])('are not believed with %s', async (_, series, sentence) => {
    expect(await check(series)).toContain(sentence);
  });

  test.each([
    ['1e999', 'series.0.points.0.1: Invalid input: expected number, received Infinity (it is Infinity)'],
    ['NaN', 'body: not JSON: {"series":[{"labels":{"task":"a"},"points":[[1,NaN]]}]}'],
  ])('are not believed with a value that no number has: %s', async (value, sentence) => {
    expect(await ask(`{"series":[{"labels":{"task":"a"},"points":[[1,${value}]]}]}`)).toContain(sentence);
  });

  test('are believed in part, in any order, and of one task without its name', async () => {
    expect(await check([of('b', [5, 1], [4, 2], [4, 3])])).toBe('');
    expect(await check([{ labels: {}, points: [] }])).toBe('');
    expect(await check([of('a'), of('z')], { unit: 'x', labels: { version: '1' } })).toBe('');
  });
});

describe('approvals of a task controller', () => {
  const check = (ack: string[]) =>
    wrongIn(taskControllerProtocol, 'process', { request: [{ id: 'a' }, { id: 'b' }] }, { ack });

  test('is not counted twice, or without a waiting operation', async () => {
    expect(await check(['a', 'a'])).toContain('ack.1: a appears twice');
    expect(await check(['c'])).toContain('ack.0: c was not asked for');
    expect((await check(['c'.repeat(9_000)])).length).toBeLessThan(700);
    expect(await check(['b'])).toBe('');
    expect(await check([])).toBe('');
  });
});

describe('names of a dependency graph', () => {
  const among = ['3', '4'].map((revision) => ({ target: '//kv:server', revision }));
  const row = { target: '//kv:server', revision: '3', depth: 1, path: ['//kv:server', '//lib:rpc'] };
  const check = (...affected: object[]) =>
    wrongIn(dependencyGraphProtocol, 'getDependents', { target: '//lib:rpc', depth: 14, among }, { affected });

  test.each<[string, object[], string]>([
    ['a row twice', [row, row], 'affected.1.target: //kv:server at 3 appears twice'],
    ['another target', [{ ...row, target: '//x' }], 'affected.0.target: //x at 3 was not asked for'],
    ['another revision', [{ ...row, revision: '5' }], 'affected.0.target: //kv:server at 5 was not asked for'],
    ['what is too deep', [{ ...row, depth: 15 }], 'affected.0.depth: 15 is more than the 14 asked for'],
    ['a path from elsewhere', [{ ...row, path: ['//x', '//lib:rpc'] }], 'affected.0.path: it does not lead'],
    ['a path to elsewhere', [{ ...row, path: ['//kv:server', '//x'] }], 'to //lib:rpc in 1 steps: //kv:server > //x'],
    ['a path longer than its depth', [{ ...row, depth: 0 }], 'affected.0.path'],
  ])('is not believed with %s', async (_, affected, sentence) => {
    expect(await check(...affected)).toContain(sentence);
  });

  test('is believed as it is', async () => {
    expect(await check()).toBe('');
    expect(await check(row, { ...row, revision: '4' })).toBe('');
  });
});
