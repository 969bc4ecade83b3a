import { ancestors, dependencies, resolveInputs, findInputSource } from '../../../domain/release/graph';
import { pipelineSchema, type PipelineSource, type PipelineSpec } from '../../../domain/spec/pipeline';
import { artifact } from '../../builders/pipelineWorld';

type Action = Partial<Omit<Extract<PipelineSource['actions'][string], { type: 'build' }>, 'type'>>;

const actionsOf = (actions: Record<string, Action>): PipelineSpec['actions'] =>
  pipelineSchema.parse({
    pipeline: 'kvstore',
    owners: ['user:alice'],
    actions: Object.fromEntries(Object.entries(actions).map(([name, action]) => [name, { type: 'build', ...action }])),
  }).actions;

/** Feedback-directed optimisation: built, deployed to a few, profiled, built again, deployed. */
const FDO = actionsOf({
  build: { inputs: ['source'], outputs: ['executable'] },
  canary: { inputs: ['executable'] },
  profile: { needs: ['canary'], outputs: ['profile'] },
  rebuild: { inputs: ['source', 'executable', 'profile'], outputs: ['executable'] },
  deploy: { needs: ['rebuild'], inputs: ['executable'] },
});

describe('who makes an input', () => {
  const check = (actions: PipelineSpec['actions'], consumer: string, input: string, expected: object) =>
    expect(findInputSource(actions, consumer, input)).toEqual(expected);
  const twice = (needs: string[]) =>
    actionsOf({
      first: { outputs: ['image'] },
      second: { needs, outputs: ['image'] },
      ship: { needs: ['first', 'second'], inputs: ['image'] },
      scan: { inputs: ['image'] },
    });

  test.each<[string, PipelineSpec['actions'], string, string, object]>([
    ['the only one that does', FDO, 'rebuild', 'profile', { kind: 'action', action: 'profile' }],
    ['the nearest of those before it', FDO, 'deploy', 'executable', { kind: 'action', action: 'rebuild' }],
    [
      'one before it, not one that itself waits for it',
      FDO,
      'canary',
      'executable',
      { kind: 'action', action: 'build' },
    ],
    ['another, not itself', FDO, 'rebuild', 'executable', { kind: 'action', action: 'build' }],
    ['nobody: it comes with the release', FDO, 'build', 'source', { kind: 'outside' }],
    ['the last of two in order', twice(['first']), 'ship', 'image', { kind: 'action', action: 'second' }],
    ['neither of two without order', twice([]), 'ship', 'image', { kind: 'ambiguous', actions: ['first', 'second'] }],
    [
      'neither of two that it waits for no more than they for it',
      twice(['first']),
      'scan',
      'image',
      { kind: 'ambiguous', actions: ['first', 'second'] },
    ],
    [
      'nobody that could be in time',
      actionsOf({ scan: { inputs: ['image'] }, patch: { needs: ['scan'], outputs: ['image'] } }),
      'scan',
      'image',
      { kind: 'later', actions: ['patch'] },
    ],
  ])('%s', (_, actions, consumer, input, expected) => check(actions, consumer, input, expected));

  test('is waited for, as are all that come before', () => {
    expect([...dependencies(FDO)]).toEqual([
      ['build', []],
      ['canary', ['build']],
      ['profile', ['canary']],
      ['rebuild', ['build', 'profile']],
      ['deploy', ['rebuild']],
    ]);
    expect([...ancestors(dependencies(FDO), 'deploy')].sort()).toEqual(['build', 'canary', 'profile', 'rebuild']);
  });

  test('an order that only inputs make counts as one that needs make', () => {
    const chain = actionsOf({
      build: { outputs: ['executable'] },
      sign: { inputs: ['executable'], outputs: ['signature'] },
      wrap: { inputs: ['signature', 'executable'], outputs: ['executable', 'label'] },
      ship: { inputs: ['label', 'executable'] },
    });
    expect(findInputSource(chain, 'ship', 'executable')).toEqual({ kind: 'action', action: 'wrap' });
    expect(findInputSource(chain, 'sign', 'executable')).toEqual({ kind: 'action', action: 'build' });
  });

  test('a circle does not hang', () => {
    const circle = actionsOf({ a: { needs: ['b'], outputs: ['x'] }, b: { needs: ['a'], inputs: ['x'] } });
    expect([...ancestors(dependencies(circle), 'a')].sort()).toEqual(['a', 'b']);
    expect(resolveInputs(circle, 'b', [artifact('given', 'x')], () => [])).toEqual([artifact('given', 'x')]);
  });
});

describe('the value of an input', () => {
  const given = [artifact('12', 'source'), artifact('given', 'executable')];
  const made = (version: string) => [artifact(version, 'executable'), artifact('other', 'label')];
  const check = (action: string, outputs: Record<string, ReturnType<typeof made>>, versions: string[]) =>
    expect(resolveInputs(FDO, action, given, (name) => outputs[name] ?? []).map(({ version }) => version)).toEqual(
      versions,
    );

  test.each<[string, string, Record<string, ReturnType<typeof made>>, string[]]>([
    ['is what its nearest producer made', 'deploy', { build: made('one'), rebuild: made('two') }, ['two']],
    ['is not what a later one makes', 'canary', { build: made('one'), rebuild: made('two') }, ['one']],
    ['is what came before, when its producer was skipped', 'deploy', { build: made('one') }, ['one']],
    ['is what the release was given, when nobody made any', 'deploy', {}, ['given']],
    ['is what the release was given, where nobody makes any', 'build', {}, ['12']],
    ['is none, when there is none', 'profile', {}, []],
  ])('%s', (_, action, outputs, versions) => check(action, outputs, versions));
});
