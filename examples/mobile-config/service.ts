import { timingSafeEqual } from 'node:crypto';
import { Hono } from 'hono';
import { z } from 'zod';
import {
  limitBody,
  MOBILE_LIMITS,
  mobileHash,
  translate,
  whyNotSchema,
  whyNotTranslation,
  type Backends,
  type GateUser,
  type MobileSchema,
  type PullAnswer,
  type Translation,
} from '../../sdk';

export interface MobileServiceOptions {
  /** Calls back with the translation now and on every change, as `watchConfig` does. */
  readonly subscribe: (onValue: (value: unknown) => void) => void;
  /** The sources of a user's fields. */
  readonly backends: (user: GateUser) => Backends;
  /** Sends a push message to the apps; it may be lost, and the next pull brings the same values. */
  readonly push: () => Promise<void>;
  /** The token of callers that may push. */
  readonly token: string;
  readonly log: (message: string) => void;
}

const hash = z.string().max(64);
const pullSchema = z.object({
  user: z.looseObject({ id: z.string().min(1).max(200) }),
  configs: z.array(z.object({ config: z.string().max(64), schema: hash, values: hash })).max(MOBILE_LIMITS.configs.max),
  schemas: z.record(hash, z.unknown()).default({}),
});
type Pull = z.output<typeof pullSchema>;

/** The answers to pulls of apps: only the changed values, in the fields that their version has. It keeps only state that apps would send again. */
export function mobileService(options: MobileServiceOptions): Hono {
  let translation: Translation = {};
  const schemas = new Map<string, MobileSchema>();
  options.subscribe((value) => {
    const why = whyNotTranslation(value);
    if (why === undefined) translation = value as Translation;
    else options.log(`the translation is refused, the one before it stays: ${why}`);
  });
  const app = new Hono();
  app.use(limitBody({ maxSize: MOBILE_LIMITS.request.max, onError: (c) => c.json({ error: 'too large' }, 413) }));
  app.post('/v1/mobile/pull', async (c) => {
    const pull = pullSchema.safeParse(await c.req.json<unknown>().catch(() => undefined));
    if (!pull.success) return c.json({ error: pull.error.issues[0]?.message ?? 'no JSON' }, 400);
    learnSchemas(schemas, pull.data);
    return c.json(answerTo(pull.data, schemas, translation, options.backends(pull.data.user as GateUser)));
  });
  app.post('/v1/mobile/push', async (c) => {
    if (!isToken(c.req.header('authorization') ?? '', options.token)) return c.json({ error: 'who are you?' }, 401);
    await options.push();
    return c.body(null, 202);
  });
  return app;
}

/** Clients send the schema for a hash, and it is accepted if it has that hash. Unused schemas are forgotten first, and sent again. */
function learnSchemas(known: Map<string, MobileSchema>, { configs, schemas }: Pull): void {
  const asked = new Set(configs.map(({ schema }) => schema));
  for (const [of, schema] of Object.entries(schemas)) {
    if (
      !asked.has(of) ||
      known.has(of) ||
      whyNotSchema(schema) !== undefined ||
      mobileHash(schema as MobileSchema) !== of
    )
      continue;
    known.set(of, schema as MobileSchema);
    const [oldest] = known.keys();
    if (known.size > MOBILE_LIMITS.schemas.max && oldest !== undefined) known.delete(oldest);
  }
}

function answerTo(
  pull: Pull,
  schemas: Map<string, MobileSchema>,
  translation: Translation,
  backends: Backends,
): PullAnswer {
  const unknownSchemas = new Set<string>();
  const configs = pull.configs.flatMap(({ config, schema: of, values: theirs }) => {
    const schema = schemas.get(of);
    if (!schema) {
      unknownSchemas.add(of);
      return [];
    }
    schemas.delete(of);
    schemas.set(of, schema);
    const sources = Object.hasOwn(translation, config) ? translation[config] : undefined;
    const { values } = translate(schema, sources, backends);
    return mobileHash(values) === theirs ? [] : [{ config, values }];
  });
  return { configs, unknownSchemas: [...unknownSchemas] };
}

function isToken(header: string, token: string): boolean {
  const [given, expected] = [Buffer.from(header), Buffer.from(`Bearer ${token}`)];
  return given.length === expected.length && timingSafeEqual(given, expected);
}
