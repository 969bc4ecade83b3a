import { judgeWait, type KnownReleases, type Wait } from '../../../domain/release/waitFor';

type Ended = KnownReleases['history'][number];

const of = (version: string) => [{ name: 'model', version }];
const active = (number: number, version = '1'): KnownReleases['active'][number] => ({ number, artifacts: of(version) });
const ended = (number: number, state: Ended['state'], version = '1', cause: Ended['cause'] = null): Ended => ({
  number,
  state,
  cause,
  artifacts: of(version),
});

/** Where a wait for api stands: `kind release: reason`. */
function told(known: Partial<KnownReleases> | null, wait: Partial<Wait>): string {
  const { kind, release, reason } = judgeWait(known && { active: [], history: [], ...known }, {
    pipeline: 'api',
    artifact: null,
    release: null,
    ...wait,
  });
  return `${kind} ${release ?? '-'}: ${reason}`;
}

describe('waiting for a pipeline means waiting for the release that is its newest when it is asked', () => {
  test.each<[string, Partial<KnownReleases> | null, number | null, string]>([
    ['a pipeline that is not there yet is waited for', null, null, 'waiting -: waiting: there is no pipeline api yet'],
    ['so is a first release', {}, null, 'waiting -: waiting: api has no release yet'],
    [
      'the end of a release under way is waited for',
      { active: [active(4)], history: [ended(3, 'succeeded')] },
      null,
      'waiting 4: waiting: api/4 has not ended yet',
    ],
    [
      'the newest has succeeded already',
      { history: [ended(2, 'failed'), ended(3, 'succeeded')] },
      null,
      'reached 3: api/3 succeeded',
    ],
    [
      'the newest has failed already',
      { history: [ended(2, 'succeeded'), ended(3, 'failed')] },
      null,
      'failed 3: api/3 failed',
    ],
    [
      'an older one that still runs does not matter',
      { active: [active(2)], history: [ended(3, 'succeeded')] },
      null,
      'reached 3: api/3 succeeded',
    ],
    [
      'newer releases do not prolong the wait',
      { active: [active(5)], history: [ended(4, 'succeeded')] },
      4,
      'reached 4: api/4 succeeded',
    ],
    [
      'nor do they save it',
      { active: [active(5)], history: [ended(4, 'cancelled', '1', 'operator')] },
      4,
      'failed 4: api/4 cancelled (operator)',
    ],
    [
      'but one that supersedes takes its place',
      { active: [active(5)], history: [ended(4, 'cancelled', '1', 'superseded')] },
      4,
      'waiting 5: waiting: api/5 has not ended yet',
    ],
    [
      'one that is forgotten cannot be waited for',
      { history: [ended(200, 'succeeded')] },
      4,
      'failed 4: api/4 is not known to api any more',
    ],
  ])('%s', (_title, known, release, expected) => {
    expect(told(known, { release })).toBe(expected);
  });
});

describe('waiting for an artifact means waiting until a release with that version has succeeded', () => {
  const artifact = { name: 'model', version: '7' };
  test.each<[string, Partial<KnownReleases>, string]>([
    [
      'none has it yet',
      { active: [active(3, '6')], history: [ended(2, 'succeeded', '5')] },
      'waiting -: waiting: api has no release with model@7 yet',
    ],
    [
      'one is under way with it',
      { active: [active(3, '7')] },
      'waiting 3: waiting: api/3 has model@7 and has not ended yet',
    ],
    ['one has succeeded with it', { history: [ended(3, 'succeeded', '7')] }, 'reached 3: api/3 succeeded with model@7'],
    [
      'whatever came after it',
      { active: [active(5, '7')], history: [ended(3, 'succeeded', '7'), ended(4, 'failed', '7')] },
      'reached 3: api/3 succeeded with model@7',
    ],
    [
      'one has failed and nobody tries again',
      { active: [active(4, '8')], history: [ended(3, 'failed', '7')] },
      'failed 3: api/3, with model@7, failed',
    ],
    [
      'one was cancelled and nobody tries again',
      { history: [ended(3, 'cancelled', '7', 'superseded')] },
      'failed 3: api/3, with model@7, cancelled (superseded)',
    ],
    [
      'one has failed and another tries again',
      { active: [active(4, '7')], history: [ended(3, 'failed', '7')] },
      'waiting 4: waiting: api/4 has model@7 and has not ended yet',
    ],
  ])('%s', (_title, known, expected) => {
    expect(told(known, { artifact })).toBe(expected);
  });
});
