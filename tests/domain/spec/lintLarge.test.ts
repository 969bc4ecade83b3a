import { lintPipeline } from '../../../domain/spec/lint';
import { parsePipeline } from '../../../domain/spec/parse';
import { pipelineSchema, type PipelineSpec } from '../../../domain/spec/pipeline';
import { SPEC_LIMITS } from '../../../domain/limits';

/** A chain of actions, each of which takes what the one before it makes. */
const chain = (actions: number): object => ({
  pipeline: 'chain',
  owners: ['user:alice'],
  artifacts: { source: { finder: 'manual' } },
  actions: Object.fromEntries(
    Array.from({ length: actions }, (_, n) => [
      `a${n}`,
      { type: 'build', inputs: [n === 0 ? 'source' : `o${n - 1}`], outputs: [`o${n}`] },
    ]),
  ),
});

/** How often lint looks at an action, or at the list of them. */
function looksOf(actions: number): number {
  const spec = pipelineSchema.parse(chain(actions));
  let looks = 0;
  const counted = new Proxy(spec.actions, {
    get: (target, key) => ((looks += 1), Reflect.get(target, key) as unknown),
    getOwnPropertyDescriptor: (target, key) => ((looks += 1), Reflect.getOwnPropertyDescriptor(target, key)),
  });
  lintPipeline({ ...spec, actions: counted } as PipelineSpec);
  return looks;
}

test('four times as many actions than are allowed take lint four times as long, not sixteen', () => {
  expect(looksOf(4_000) / looksOf(1_000)).toBeLessThan(4.5);
});

test('a file with too many actions is refused for that', () => {
  const { problems, spec } = parsePipeline(JSON.stringify(chain(4_000)));
  expect([spec, problems.map(({ code, path }) => [code, path])]).toEqual([
    null,
    expect.arrayContaining([['over-limit', 'actions']]),
  ]);
});

test('as many actions as are allowed are looked at by every rule', () => {
  const large = pipelineSchema.parse(chain(SPEC_LIMITS.actions.max));
  const [first] = Object.values(large.actions);
  const last = `a${SPEC_LIMITS.actions.max - 1}`;
  const actions = { ...large.actions, a0: { ...first!, needs: [last] } };
  expect(lintPipeline({ ...large, actions }).map(({ code }) => code)).toContain('cycle');
});
