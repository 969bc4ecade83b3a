import { roomAt, type LimitedWindow } from '../../../domain/calendar/room';
import { admit, enqueueReady } from '../../../domain/pipeline/admission';
import type { PipelineState, ReadyAction } from '../../../domain/pipeline/state';
import { pipelineSchema } from '../../../domain/spec/pipeline';
import { artifact, NOW, pipelineOf, running } from '../../builders/pipelineWorld';

const at = (time: string) => Date.parse(`${time}Z`);
const MORNING: LimitedWindow = { days: ['mon', 'tue'], from: '09:00', to: '12:00', timezone: 'UTC', maxDeploys: 2 };
const EVENING: LimitedWindow = { ...MORNING, from: '11:00', to: '18:00', maxDeploys: undefined };

/** `open until …`, `closed until …`, and how full. 2026-11-23 is a Monday. */
function room(now: string, begun: readonly string[], windows = [MORNING], blackouts: object[] = []): string {
  const all = { windows, blackouts: blackouts as never[] };
  const state = roomAt(all, begun.map(at), at(now));
  const until = new Date(state.open ? state.closesAtMs : state.opensAtMs).toISOString().slice(0, 16);
  const full = state.open ? undefined : state.full;
  return `${state.open ? 'open' : 'closed'} until ${until}${full ? `, ${full.begun} of ${full.most}` : ''}`;
}

describe('a window that lets two deploys begin', () => {
  test.each<[string, string, string[], string]>([
    ['is open for the first', '2026-11-23T09:30', [], 'open until 2026-11-23T12:00'],
    ['is open for the second', '2026-11-23T10:00', ['2026-11-23T09:00'], 'open until 2026-11-23T12:00'],
    [
      'is full for the third, until it opens again',
      '2026-11-23T10:00',
      ['2026-11-23T09:00', '2026-11-23T09:40'],
      'closed until 2026-11-24T09:00, 2 of 2',
    ],
    [
      'counts anew the next time',
      '2026-11-24T09:00',
      ['2026-11-23T09:00', '2026-11-23T09:40'],
      'open until 2026-11-24T12:00',
    ],
    [
      'is closed as any other, whatever has begun',
      '2026-11-23T13:00',
      ['2026-11-23T09:00', '2026-11-23T09:40'],
      'closed until 2026-11-24T09:00',
    ],
  ])('%s', (_, now, begun, expected) => expect(room(now, begun)).toBe(expected));

  test('leaves those alone that another window lets through', () => {
    const begun = ['2026-11-23T09:00', '2026-11-23T09:40'];
    expect(room('2026-11-23T10:00', begun, [MORNING, EVENING])).toBe('closed until 2026-11-23T11:00, 2 of 2');
    expect(room('2026-11-23T11:00', begun, [MORNING, EVENING])).toBe('open until 2026-11-23T18:00');
  });

  test('opens again after a blackout', () => {
    const begun = ['2026-11-23T09:00', '2026-11-23T09:40'];
    const away = [{ from: '2026-11-24', to: '2026-11-24', timezone: 'UTC', reason: 'away' }];
    expect(room('2026-11-23T10:00', begun, [MORNING], away)).toBe('closed until 2026-11-30T09:00, 2 of 2');
  });
});

describe('a pipeline remembers when deploys begin that a window counts', () => {
  const limited = (): PipelineState => {
    const window = { ...MORNING, onClose: 'pause' as const };
    const spec = pipelineSchema.parse({
      ...{ pipeline: 'kvstore', owners: ['user:alice'], artifacts: { executable: { finder: 'manual' } } },
      actions: {
        deploy: { type: 'deploy', inputs: ['executable'], with: { pushType: 'twine' }, window },
        other: { type: 'deploy', inputs: ['executable'], with: { pushType: 'twine' } },
      },
    });
    return running({ ...pipelineOf(), spec }, artifact('kv:2'));
  };
  const granted = (more: Partial<ReadyAction> = {}, times = 1): PipelineState => {
    const ready = { release: 1, action: 'deploy', artifacts: [artifact('kv:2')], rollback: false, ...more };
    return Array.from({ length: times }).reduce<PipelineState>(
      (state, _, index) => admit(enqueueReady(state, ready, NOW + index), NOW + index).state,
      limited(),
    );
  };

  test('each release once, when it got its turn last', () => {
    expect(granted().begunAt).toEqual({ deploy: [[1, NOW]] });
    expect(granted({}, 3).begunAt).toEqual({ deploy: [[1, NOW + 2]] });
  });

  test.each<[string, Partial<ReadyAction>]>([
    ['of another action', { action: 'other' }],
    ['that is a rollback', { rollback: true }],
    ['that is an emergency', { emergency: true }],
  ])('but none %s', (_, more) => expect(granted(more).begunAt).toBeUndefined());

  test('and of the newest ten alone', () => {
    const many = {
      ...limited(),
      begunAt: { deploy: Array.from({ length: 10 }, (_, index) => [100 + index, index] as const) },
    };
    const ready = { release: 1, action: 'deploy', artifacts: [artifact('kv:2')], rollback: false };
    const begun = admit(enqueueReady(many, ready, NOW), NOW).state.begunAt?.['deploy'] ?? [];
    expect([begun.length, begun[0], begun.at(-1)]).toEqual([10, [101, 1], [1, NOW]]);
  });
});
