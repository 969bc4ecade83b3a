import { callExtension, type Fetch } from '../../sdk/client';
import { artifactFinderProtocol, MAX_SUBSCRIPTIONS, type Subscription } from '../../sdk/protocol/artifactFinder';

/** An artifact finder under test. */
export interface ArtifactFinderSubject {
  readonly fetch: Fetch;
  readonly url: string;
  /** What the thing under test is looked for by, and something else of the kind that does not exist. */
  readonly with: Readonly<Record<string, unknown>>;
  readonly other: Readonly<Record<string, unknown>>;
  /** Makes a version of the thing, newer than all before; what the finder will call it. */
  readonly make: (n: number) => Promise<string>;
}

/** What every artifact finder owes (docs/design/protocols.md#artifact-finder). */
export function describeArtifactFinder(name: string, makeSubject: () => Promise<ArtifactFinderSubject>): void {
  describe(`artifact finder ${name}`, () => {
    let subject: ArtifactFinderSubject;
    beforeEach(async () => {
      subject = await makeSubject();
    });
    const ask = (subscriptions: readonly Subscription[], cursor?: string) =>
      callExtension({
        service: { name, url: subject.url, timeoutMs: 5000 },
        protocol: artifactFinderProtocol,
        method: 'getArtifacts',
        request: { subscriptions: [...subscriptions], ...(cursor === undefined ? {} : { cursor }) },
        context: { pipeline: '', release: 0, deployId: `sweep/${name}`, actor: `service:${name}`, config: {} },
        fetch: subject.fetch,
      });
    const of = (pipeline: string, wanted: Readonly<Record<string, unknown>> = subject.with): Subscription => ({
      pipeline,
      artifact: 'input',
      with: { ...wanted },
    });
    const versions = async (pipelines: readonly string[], cursor?: string) =>
      (
        await ask(
          pipelines.map((pipeline) => of(pipeline)),
          cursor,
        )
      ).found.map(({ pipeline, artifact }) => [pipeline, artifact.version]);

    test('finds nothing where there is nothing yet, and has a cursor all the same', async () => {
      const { found, cursor, refused } = await ask([of('web')]);
      expect({ found, refused }).toEqual({ found: [], refused: [] });
      await subject.make(1);
      expect(await versions(['web'], cursor)).toHaveLength(1);
    });

    test('without a cursor gives the latest of each, under the name that each subscription has for it', async () => {
      await subject.make(1);
      const latest = await subject.make(2);
      const { found } = await ask([of('web'), of('shop'), of('nobody', subject.other)]);
      expect(found.map(({ pipeline, artifact }) => [pipeline, artifact.name, artifact.version])).toEqual([
        ['web', 'input', latest],
        ['shop', 'input', latest],
      ]);
    });

    test('with a cursor gives only what came after it', async () => {
      await subject.make(1);
      const { cursor } = await ask([of('web')]);
      expect(await versions(['web'], cursor)).toEqual([]);
      const newer = await subject.make(2);
      expect(await versions(['web'], cursor)).toEqual([['web', newer]]);
    });

    test('answers the same cursor in the same way, however often it is asked', async () => {
      const { cursor } = await ask([of('web')]);
      await subject.make(1);
      const first = await ask([of('web')], cursor);
      expect(first.found).toHaveLength(1);
      expect(await ask([of('web')], cursor)).toEqual(first);
    });

    test('whoever is asked for makes no difference to the cursor, so one serves every page', async () => {
      await subject.make(1);
      const { cursor } = await ask([of('nobody', subject.other)]);
      expect(await versions(['web'], cursor)).toEqual([]);
      const newer = await subject.make(2);
      expect(await versions(['web'], cursor)).toEqual([['web', newer]]);
    });

    test('takes a cursor that it does not know for none', async () => {
      const latest = await subject.make(1);
      expect(await versions(['web'], 'from another world')).toEqual([['web', latest]]);
    });

    test(`serves ${MAX_SUBSCRIPTIONS} subscriptions with one call, and refuses one more`, async () => {
      await subject.make(1);
      const many = Array.from({ length: MAX_SUBSCRIPTIONS }, (_, index) => of(`p-${index}`));
      expect((await ask(many)).found).toHaveLength(MAX_SUBSCRIPTIONS);
      await expect(ask([...many, of('one-more')])).rejects.toMatchObject({
        code: 'extension-rejected',
        message: expect.stringContaining(`at most ${MAX_SUBSCRIPTIONS} subscriptions`),
      });
    });

    test('refuses a with that it does not know, says why, and serves the rest of the page', async () => {
      const version = await subject.make(1);
      const { found, refused } = await ask([of('wrong', { nonsense: 'yes' }), of('web')]);
      expect(found).toMatchObject([{ pipeline: 'web', artifact: { version } }]);
      expect(refused).toEqual([
        { pipeline: 'wrong', artifact: 'input', message: expect.stringMatching(/takes with: \{ .*given.*nonsense/) },
      ]);
    });
  });
}
