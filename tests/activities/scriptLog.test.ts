import fc from 'fast-check';
import { LogKeeper } from '../../activities/scriptLog';
import { LOG_LIMITS } from '../../domain/limits';
import { fitLog, logBytes, newIn, type ScriptLog } from '../../domain/scriptLog';
import { textBytes } from '../../domain/size';

/** All that a script writes, in pieces as they come, to one stream. */
function kept(pieces: readonly string[], values: readonly string[] = [], bytes = LOG_LIMITS.log.max): ScriptLog {
  const log = new LogKeeper(values);
  const hear = log.listen();
  for (const piece of pieces) hear(piece);
  log.end();
  return log.read(bytes);
}
const all = (pieces: readonly string[], values: readonly string[] = []): string => newIn(kept(pieces, values), 0).text;

describe('a log', () => {
  test('has no colours, and nothing that moves the cursor, hides or turns text', () => {
    expect(all(['\u001b[31mred\u001b[0m\tand be\u0007ll \u001b[2J\r\n'])).toBe('red\tand be\\u0007ll \n');
    expect(all(['10%\r20%\r', '\n100%\n'])).toBe('10%\n20%\n100%\n');
    expect(all(['a\u202eb\u0000\ufffd\n'])).toBe('a\\u202eb\\u0000\ufffd\n');
  });

  test('keeps the lines of two streams whole', () => {
    const log = new LogKeeper();
    const [out, error] = [log.listen(), log.listen()];
    out('one ');
    error('warning\n');
    out('line\n');
    expect(log.read(1_000).head).toBe('warning\none line\n');
  });

  test('never has more bytes than it may, and keeps its beginning and its end', () => {
    const texts = fc.array(fc.string({ unit: 'grapheme', maxLength: 80 }), { maxLength: 60 });
    fc.assert(
      fc.property(texts, fc.integer({ min: 64, max: 2_000 }), (lines, bytes) => {
        const text = lines.join('\n');
        const log = fitLog({ head: text, cut: 0, tail: '' }, bytes);
        expect(textBytes(log.head) + textBytes(log.tail)).toBeLessThanOrEqual(bytes);
        expect(log.head.length + log.cut + log.tail.length).toBe(text.length);
        expect([text.startsWith(log.head), text.endsWith(log.tail)]).toEqual([true, true]);
      }),
    );
  });

  test('stays small for a script that writes megabytes in one line', () => {
    const log = kept(Array.from({ length: 300 }, () => 'x'.repeat(10_000)));
    expect(textBytes(log.head) + textBytes(log.tail)).toBeLessThanOrEqual(LOG_LIMITS.log.max);
    expect(log.head.length + log.cut + log.tail.length).toBe(3_000_000);
  });

  test('states once how much was left out, to readers and followers alike', () => {
    const log = { head: 'a\nb', cut: 12_345, tail: 'y\nz\n' };
    expect(newIn(log, 0)).toEqual({ text: 'a\nb\n… 12,345 characters left out …\ny\nz\n', shown: 12_352 });
    expect(newIn(log, 12_350)).toEqual({ text: 'z\n', shown: 12_352 });
    expect(newIn(log, 12_352)).toEqual({ text: '', shown: 12_352 });
    expect(newIn(log, 12_338).text).toBe('… 10 characters left out …\ny\nz\n');
  });

  test('is as long for a follower as for a reader at its end', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 20 }), { maxLength: 40 }), (pieces) => {
        const log = new LogKeeper();
        const hear = log.listen();
        let [seen, shown] = ['', 0];
        const look = (): void => {
          const { text, shown: now } = newIn(log.read(100_000), shown);
          [seen, shown] = [seen + text, now];
        };
        for (const piece of pieces) {
          hear(piece);
          look();
        }
        log.end();
        look();
        expect(seen).toBe(newIn(log.read(100_000), 0).text);
      }),
    );
  });

  test('takes less than a history that Temporal warns of, for all scripts that a release may run', () => {
    const runs = Array.from({ length: 64 * 100 }, (_, nth) => logBytes(nth + 1));
    expect(logBytes(1)).toBe(64 * 1024);
    expect(runs.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(7 * 1_048_576);
  });
});

describe('values of variables that a script was given', () => {
  const SECRET = 's3cr3t.value+1';

  test('are masked wherever they are, however they come', () => {
    expect(all([`token=${SECRET}; again ${SECRET}\n`], [SECRET])).toBe('token=***; again ***\n');
    expect(all([`with \u001b[1m${SECRET.slice(0, 4)}\u001b[0m${SECRET.slice(4)}\n`], [SECRET])).toBe('with ***\n');
    expect(all(['-----BEGIN\nabcdefgh\n', 'ijklmnop\nshort\n'], ['abcdefgh\nijklmnop\n'])).toBe(
      '-----BEGIN\n***\n***\nshort\n',
    );
  });

  test('are masked in the line that says what it does, too', () => {
    const log = new LogKeeper([SECRET]);
    log.listen()(`asking with ${SECRET}`);
    expect(log.latest()).toBe('asking with ***');
  });

  test('are masked although they come in pieces, in a line without end, and where the log is cut', () => {
    const filler = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\n'), maxLength: 6_000 });
    fc.assert(
      fc.property(
        filler,
        filler,
        fc.integer({ min: 1, max: 5_000 }),
        fc.integer({ min: 64, max: 4_000 }),
        (before, after, size, bytes) => {
          const text = `${before}${SECRET}${after}`;
          const pieces = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
          const { head, tail } = kept(pieces, [SECRET], bytes);
          for (const part of [head, tail])
            for (const half of [SECRET.slice(0, 6), SECRET.slice(-6)]) expect(part).not.toContain(half);
        },
      ),
    );
  });

  test('that are short are not: they would make *** of words', () => {
    expect(all(['on and on\n'], ['on'])).toBe('on and on\n');
  });
});
