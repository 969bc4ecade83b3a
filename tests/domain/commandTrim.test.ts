import { trimCommands } from '../../domain/commandTrim';
import { STATE_LIMITS } from '../../domain/limits';
import { jsonBytes } from '../../domain/size';
import type { CommandRecord } from '../../domain/verbs';

const taken = (n: number): CommandRecord => ({
  ...{ at: `t${n}`, verb: 'hold', actor: 'user:alice', reason: `because ${n}`, accepted: true },
});
const refused = (n: number, reason = ''): CommandRecord => ({
  ...{ at: `t${n}`, verb: 'freeze', actor: 'user:eve', reason, accepted: false, rejection: 'not an owner' },
});

/** As a workflow keeps them: one after the other. */
const after = (commands: readonly CommandRecord[], count: number): readonly CommandRecord[] =>
  commands.reduce<readonly CommandRecord[]>((kept, command) => trimCommands([...kept, command], count), []);

test('as many refused commands as a stranger likes push out nothing that an owner did', () => {
  const owners = Array.from({ length: 100 }, (_, n) => taken(n));
  const strangers = Array.from({ length: 500 }, (_, n) => refused(n, 'r'.repeat(n % 900)));
  const kept = after([...owners, ...strangers], 100);
  expect(kept.filter(({ accepted }) => accepted)).toEqual(owners);
  expect(kept.length - owners.length).toBeLessThanOrEqual(STATE_LIMITS.refusedCommands.max);
  expect(jsonBytes(kept.slice(owners.length))).toBeLessThanOrEqual(STATE_LIMITS.refusedCommandsTogether.max + 1);
});

test('the newest refusals are kept, in the order in which all came', () => {
  const commands = Array.from({ length: 50 }, (_, n) => (n % 2 === 0 ? taken(n) : refused(n)));
  const kept = after(commands, 10);
  expect(kept.filter(({ accepted }) => accepted)).toEqual(commands.filter(({ accepted }) => accepted).slice(-10));
  expect(kept.filter(({ accepted }) => !accepted).at(-1)).toEqual(commands.at(-1));
  expect(kept).toEqual(commands.filter((command) => kept.includes(command)));
});

test('a list that fits is the very same one', () => {
  const commands = [taken(1), refused(2)];
  expect(trimCommands(commands, 10)).toBe(commands);
});
