import { z } from 'zod';
import type { ControlSpec } from '../twine/controlState';
import { STANDARD_CONTROLLERS } from './index';

const positiveMs = z.number().positive();

const EXTERNAL = 'external';

/** `controller` of a job: one of the kinds that come with the world, with its options, or `external` with a url. */
export const controllerSchema = z
  .looseObject({
    kind: z.string(),
    url: z.url({ protocol: /^https?$/ }).optional(),
    deadlineMs: positiveMs.default(5000),
    everyMs: positiveMs.default(1000),
    leader: z.number().int().nonnegative().default(0),
  })
  .transform(({ kind, url, deadlineMs, everyMs, leader, ...options }, context): ControlSpec => {
    const wrong = (message: string, path: PropertyKey[]): void =>
      void context.addIssue({ code: 'custom', message, path });
    const standard = Object.hasOwn(STANDARD_CONTROLLERS, kind) ? STANDARD_CONTROLLERS[kind] : undefined;
    const kinds = [...Object.keys(STANDARD_CONTROLLERS), EXTERNAL];
    if (kind === EXTERNAL) {
      if (url === undefined) wrong('needed for an external controller', ['url']);
      for (const key of Object.keys(options)) wrong('an external controller has no such option', [key]);
    } else if (standard === undefined) wrong(`expected one of ${kinds.join(', ')}`, ['kind']);
    else {
      if (url !== undefined) wrong('only an external controller has one', ['url']);
      for (const { message, path } of standard.options.safeParse(options).error?.issues ?? []) wrong(message, path);
    }
    return { kind, url: url ?? null, deadlineMs, everyMs, leader, options };
  });
