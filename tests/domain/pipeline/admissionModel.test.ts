import fc from 'fast-check';
import { admit, enqueueReady, recordPick, withdraw } from '../../../domain/pipeline/admission';
import { recordRelease } from '../../../domain/pipeline/recordOutcome';
import type { PipelineState, ReadyAction } from '../../../domain/pipeline/state';
import { begunBy, deployOf, emergency, exclusive, pick, pipelineWith } from '../../builders/admissionWorld';
import { NOW, resultOf } from '../../builders/pipelineWorld';

type Supersede = 'waiting' | 'never' | 'running';

/** The steps of each release, in any order: a pick, tests that take groups, and a deploy that takes them too. */
const PLAN: readonly ((release: number) => ReadyAction)[] = [
  (release) => pick(release),
  (release) => exclusive(release, ['prod'], 'smoke'),
  (release) => exclusive(release, ['prod', 'load'], 'load-test'),
  (release) => exclusive(release, ['load'], 'perf-test'),
  (release) => deployOf(release, { mutex: ['prod'] }),
];
const RELEASES = 5;
const EMERGENCY = RELEASES + 1;

const turn = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('ask' as const), at: fc.nat(1_000) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('end' as const), at: fc.nat(1_000) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('approve' as const), at: fc.nat(1_000) }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'push' as const, at: 0 }) },
);

/** A pipeline and its releases, as they would behave: each action asks once, ends some time after it was granted. */
class Model {
  state: PipelineState;
  readonly granted = new Map<string, ReadyAction>();
  readonly answered = new Map<string, string>();
  readonly told = new Set<string>();
  private readonly open: ReadyAction[];
  private emergencyAsked = false;

  constructor(private readonly supersede: Supersede) {
    this.state = pipelineWith(RELEASES, { releases: { supersede, maxActive: 50 } });
    this.open = Array.from({ length: RELEASES }, (_, n) => PLAN.map((make) => make(n + 1))).flat();
  }

  play({ kind, at }: { kind: 'ask' | 'end' | 'approve' | 'push'; at: number }): void {
    if (kind === 'ask' && this.open.length > 0) this.ask(this.open.splice(at % this.open.length, 1)[0]!);
    if (kind === 'end' && this.granted.size > 0) this.end([...this.granted.keys()][at % this.granted.size]!);
    if (kind === 'approve') this.approve(at);
    if (kind === 'push' && !this.emergencyAsked) this.push();
  }

  /** Everything asks, is approved and ends, until nothing moves any more. */
  finish(): void {
    for (const ready of this.open.splice(0)) this.ask(ready);
    for (let n = 0; n < 200 && this.state.active.length > 0; n += 1) {
      this.approve(0);
      for (const key of [...this.granted.keys()]) this.end(key);
      for (const { number } of this.state.active) if (this.isOver(number)) this.settle(number);
    }
  }

  private ask(ready: ReadyAction): void {
    this.state = enqueueReady(this.state, ready, NOW);
    this.decide();
  }

  private end(key: string): void {
    const ready = this.granted.get(key)!;
    this.granted.delete(key);
    this.state = withdraw(this.state, ready);
    this.decide();
  }

  private approve(at: number): void {
    const picks = this.state.ready.filter(({ kind }) => kind === 'pick');
    const chosen = picks[at % Math.max(1, picks.length)];
    if (chosen === undefined) return;
    this.answered.set(keyOf(chosen), 'approved');
    this.state = recordPick(this.state, chosen);
    this.decide();
  }

  private push(): void {
    this.emergencyAsked = true;
    this.state = begunBy(this.state, emergency, { emergency: { action: 'deploy', skipBake: false } });
    this.ask(deployOf(EMERGENCY, { emergency: true, mutex: ['prod'] }));
  }

  private settle(number: number): void {
    this.state = recordRelease(this.state, resultOf(number, []), NOW);
    this.decide();
  }

  private isOver(number: number): boolean {
    const mine = [...this.answered.keys()].filter((key) => key.startsWith(`${number}/`));
    const running = [...this.granted.values()].some(({ release }) => release === number);
    return !running && mine.length === (number === EMERGENCY ? 1 : PLAN.length);
  }

  private decide(): void {
    const before = this.state;
    const { state, decisions: told, overtaken } = admit(this.state, NOW);
    this.state = state;
    for (const { release, action, admission } of told) {
      const key = `${release}/${action}`;
      must(!this.answered.has(key), `${key} is answered once`);
      this.answered.set(key, admission.kind);
      const ready = before.ready.find((each) => keyOf(each) === key)!;
      if (admission.kind === 'granted') this.grant(ready);
      else must(this.supersede !== 'never' || ready.kind !== 'pick', `${key} keeps its turn`);
    }
    for (const { release, by, why } of overtaken) {
      const may = why === 'preempted' ? by === EMERGENCY : by > release && this.supersede === 'running';
      must(may, `${by} may not make ${release} go away`);
      must(String(release) === this.state.deploys.holder?.owner, `${release} deploys`);
      must(!this.told.has(`${release} ${why}`), `${release} gets it once`);
      this.told.add(`${release} ${why}`);
    }
    must(admit(this.state, NOW).decisions.length === 0, 'everything that can be decided is decided at once');
  }

  private grant(ready: ReadyAction): void {
    const others = [...this.granted.values()].filter(({ release }) => release !== ready.release);
    must(ready.kind !== 'pick', 'a pick is granted by nobody but a person');
    must(ready.kind !== 'deploy' || !others.some(({ kind }) => kind === 'deploy'), 'one release deploys');
    for (const group of ready.mutex ?? [])
      must(!others.some(({ mutex }) => mutex?.includes(group)), `one release holds ${group}`);
    this.granted.set(keyOf(ready), ready);
  }
}

/** `expect` would take most of the time here. */
function must(holds: boolean, what: string): void {
  if (!holds) throw new Error(`not so: ${what}`);
}

const keyOf = ({ release, action }: Pick<ReadyAction, 'release' | 'action'>): string => `${release}/${action}`;

describe.each<Supersede>(['waiting', 'never', 'running'])(
  'supersede: %s, with groups, picks and an emergency',
  (supersede) => {
    const played = (turns: readonly Parameters<Model['play']>[0][]): Model => {
      const model = new Model(supersede);
      for (const each of turns) model.play(each);
      model.finish();
      return model;
    };

    test('one holds each group, one deploys, none is answered twice or starves, tests are never refused', () => {
      fc.assert(
        fc.property(fc.array(turn, { maxLength: 80 }), (turns) => {
          const { state, answered, granted } = played(turns);
          expect([granted.size, state.ready, state.active]).toEqual([0, [], []]);
          for (const { holder } of [state.deploys, ...Object.values(state.mutexes)]) expect(holder).toBeNull();
          expect(answered.size).toBeGreaterThanOrEqual(RELEASES * PLAN.length);
          const kinds = [...answered].filter(([key]) => !/deploy|approve/.test(key)).map(([, kind]) => kind);
          expect(new Set(kinds)).toEqual(new Set(['granted']));
        }),
        { numRuns: 200 },
      );
    });

    test(`${supersede === 'never' ? 'every release deploys' : 'the newest deploys'}, unless an emergency went before`, () => {
      fc.assert(
        fc.property(fc.array(turn, { maxLength: 80 }), (turns) => {
          const { answered } = played(turns);
          const deployed = [...answered].flatMap(([key, kind]) =>
            key.endsWith('/deploy') && kind === 'granted' ? [Number.parseInt(key)] : [],
          );
          if (answered.has(`${EMERGENCY}/deploy`)) expect(deployed).toContain(EMERGENCY);
          else if (supersede === 'never') expect(deployed).toEqual([1, 2, 3, 4, 5]);
          else expect(deployed).toContain(RELEASES);
        }),
        { numRuns: 100 },
      );
    });
  },
);
