import { artifactFinderProtocol, MAX_SUBSCRIPTIONS, type Subscription } from '../protocol/artifactFinder';
import {
  demand,
  demandEqual,
  demandFields,
  demandRefusal,
  inspectValue,
  SkippedRuleError,
  type ConformCheck,
} from './check';
import type { Conversation, Reachable } from './conversation';

/** An artifact finder under test. */
export interface ArtifactFinderSubject extends Reachable {
  /** The `with` of an existing artifact, and of one that does not exist. */
  readonly with: Readonly<Record<string, unknown>>;
  readonly other: Readonly<Record<string, unknown>>;
  /** Makes a version newer than all before; resolves to the finder's name for it. */
  readonly make?: ((n: number) => Promise<string>) | undefined;
}

type FoundArtifact = {
  readonly pipeline: string;
  readonly artifact: { readonly name: string; readonly version: string };
};

/** The tools of the cases of the suite. */
class Looks {
  constructor(
    readonly subject: ArtifactFinderSubject,
    private readonly talk: Conversation,
  ) {}

  ask(subscriptions: readonly Subscription[], cursor?: string) {
    const context = { pipeline: '', release: 0, deployId: 'sweep/finder', actor: 'service:finder', config: {} };
    const request = { subscriptions: [...subscriptions], ...(cursor === undefined ? {} : { cursor }) };
    return this.talk.ask({ protocol: artifactFinderProtocol, method: 'getArtifacts', request, context });
  }

  of = (pipeline: string, wanted: Readonly<Record<string, unknown>> = this.subject.with): Subscription => ({
    ...{ pipeline, artifact: 'input' },
    with: { ...wanted },
  });

  nobody = (): Subscription => this.of('nobody', this.subject.other);

  make(n: number): Promise<string> {
    if (this.subject.make) return this.subject.make(n);
    throw new SkippedRuleError('make', 'needs a way to make a new version');
  }

  /** The newest version: a new one if the subject can make one. */
  async latest(n: number): Promise<string> {
    if (this.subject.make) return this.make(n);
    const [found] = (await this.ask([this.of('web')])).found;
    if (found) return found.artifact.version;
    throw new SkippedRuleError('make', 'there is no version yet, and no way to make one');
  }
}

/** The last of each subscription: if no artifact replaces another, the earlier ones come with it. */
const newestFound = ({ found }: { readonly found: readonly FoundArtifact[] }): FoundArtifact[] => [
  ...new Map(found.map((one) => [`${one.pipeline} ${one.artifact.name}`, one])).values(),
];

const listFoundVersions = (answer: { readonly found: readonly FoundArtifact[] }) =>
  newestFound(answer).map(({ pipeline, artifact }) => [pipeline, artifact.version]);

const finderCheck = (
  title: string,
  advice: string,
  story: (looks: Looks) => Promise<void>,
): ConformCheck<ArtifactFinderSubject> => ({
  ...{ title, method: 'getArtifacts', advice },
  run: (subject, talk) => story(new Looks(subject, talk)),
});

/** The obligations of every artifact finder. */
export const ARTIFACT_FINDER_CHECKS: readonly ConformCheck<ArtifactFinderSubject>[] = [
  finderCheck(
    'finds nothing where there is nothing yet, and has a cursor all the same',
    'answer found: [] and a cursor for the moment of the call, also when there is nothing to find',
    async (looks) => {
      const { found, cursor, refused } = await looks.ask([looks.nobody()]);
      demandEqual({ found, refused }, { found: [], refused: [] }, 'the answer for what does not exist');
      await looks.make(1);
      demandEqual(
        listFoundVersions(await looks.ask([looks.of('web')], cursor)).length,
        1,
        'the number of newer versions',
      );
    },
  ),
  finderCheck(
    'without a cursor gives the latest of each, under the name that each subscription has for it',
    'without a cursor answer the newest version for each subscription that has any, with its pipeline and artifact names',
    async (looks) => {
      if (looks.subject.make) await looks.make(1);
      const latest = await looks.latest(2);
      const answer = await looks.ask([looks.of('web'), looks.of('shop'), looks.nobody()]);
      const rows = newestFound(answer)
        .map(({ pipeline, artifact }) => [pipeline, artifact.name, artifact.version])
        .sort();
      demandEqual(rows, [['shop', 'input', latest], ['web', 'input', latest]], 'what was found'); // prettier-ignore
    },
  ),
  finderCheck(
    'with a cursor gives only what came after it',
    'compare by the order in which versions came to be known to you, not by time stamps of others',
    async (looks) => {
      await looks.latest(1);
      const { cursor } = await looks.ask([looks.of('web')]);
      demandEqual(listFoundVersions(await looks.ask([looks.of('web')], cursor)), [], 'what came after the cursor');
      const newer = await looks.make(2);
      demandEqual(
        listFoundVersions(await looks.ask([looks.of('web')], cursor)),
        [['web', newer]],
        'what came after the cursor',
      );
    },
  ),
  finderCheck(
    'answers the same cursor in the same way, however often it is asked',
    'looking uses nothing up: until something new is made, the same cursor gives the same answer',
    async (looks) => {
      const { cursor } = await looks.ask([looks.of('web')]);
      if (looks.subject.make) await looks.make(1);
      const first = await looks.ask([looks.of('web')], cursor);
      if (looks.subject.make) demandEqual(first.found.length, 1, 'the number of newer versions');
      demandEqual(await looks.ask([looks.of('web')], cursor), first, 'the second answer to the same cursor');
    },
  ),
  finderCheck(
    'the cursor does not depend on the subscriptions in the request, so one serves every page',
    'a cursor stands for the moment of the call, never for one subscription',
    async (looks) => {
      await looks.latest(1);
      const { cursor } = await looks.ask([looks.nobody()]);
      demandEqual(listFoundVersions(await looks.ask([looks.of('web')], cursor)), [], 'what came after the cursor');
      const newer = await looks.make(2);
      demandEqual(
        listFoundVersions(await looks.ask([looks.of('web')], cursor)),
        [['web', newer]],
        'what came after the cursor',
      );
    },
  ),
  finderCheck(
    'takes a cursor that it does not know for none',
    'answer as without a cursor: yours may be from before a restart',
    async (looks) => {
      const latest = await looks.latest(1);
      const answer = await looks.ask([looks.of('web')], 'from another world');
      demandEqual(listFoundVersions(answer), [['web', latest]], 'what was found');
    },
  ),
  finderCheck(
    `serves ${MAX_SUBSCRIPTIONS} subscriptions with one call, and refuses one more`,
    `answer ${MAX_SUBSCRIPTIONS} subscriptions within the timeout; answer 400 for more, naming the limit`,
    async (looks) => {
      await looks.latest(1);
      const many = Array.from({ length: MAX_SUBSCRIPTIONS }, (_, index) => looks.of(`p-${index}`));
      demandEqual(newestFound(await looks.ask(many)).length, MAX_SUBSCRIPTIONS, 'the number of subscriptions found');
      const { message } = await demandRefusal(looks.ask([...many, looks.of('one-more')]), 'one subscription more');
      const named = message.includes(String(MAX_SUBSCRIPTIONS));
      demand(named, `the refusal says ${inspectValue(message)}, expected it to name the limit of ${MAX_SUBSCRIPTIONS}`);
    },
  ),
  finderCheck(
    'refuses a with that it does not know, says why, and serves the rest of the page',
    'name the subscription in refused, with a message that says what you take and what was given; answer the others as ever',
    async (looks) => {
      const version = await looks.latest(1);
      const { found, refused } = await looks.ask([looks.of('wrong', { nonsense: 'yes' }), looks.of('web')]);
      demandEqual(listFoundVersions({ found }), [['web', version]], 'what was found of the rest');
      demandEqual(refused.length, 1, 'the number of subscriptions that are refused');
      demandFields(refused[0], { pipeline: 'wrong', artifact: 'input' }, 'refused[0]');
      const message = refused[0]?.message ?? '';
      demand(
        message.includes('nonsense'),
        `its message is ${inspectValue(message)}, expected it to name the key nonsense`,
      );
    },
  ),
];
