import { excessText, over } from '../../excess';
import { isJsonObject } from '../../json';
import { OFFER_LIMITS, SPEC_LIMITS } from '../../limits';
import { canWish, findMaker, isWishedFor, listTakenOffers } from '../../offers/ofPipeline';
import { listPlaceholders, listWishedParts, parseArtifactField } from '../../offers/placeholders';
import { listMisplaced, whyMismatch, type ValueSchema } from '../../offers/schema';
import { jsonBytes } from '../../size';
import type { OfferSpec } from '../offers';
import type { PipelineSpec } from '../pipeline';
import { errorAt, formatPath, suggest, warningAt, type Finding, type Path } from '../problem';
import type { Rule } from '../rule';

const listDeploys = ({ actions }: PipelineSpec): string[] =>
  Object.keys(actions).filter((name) => actions[name]?.type === 'deploy');

/** An error if a name is not that of a deploy. */
function findUnknownDeploy(spec: PipelineSpec, name: string, path: Path): Finding[] {
  const action = spec.actions[name];
  const deploys = listDeploys(spec);
  if (action === undefined)
    return [errorAt(path, 'unknown-action', `there is no action ${name}`, suggest(name, deploys))];
  if (action.type === 'deploy') return [];
  return [errorAt(path, 'not-a-deploy', `${name} is not a deploy`, suggest('', deploys))];
}

function findDuplicates<T>(list: readonly T[], key: (item: T) => string, path: Path, code: string): Finding[] {
  return list.flatMap((item, index) =>
    list.findIndex((other) => key(other) === key(item)) === index
      ? []
      : [errorAt([...path, index], code, `${key(item)} is listed twice`, 'remove one')],
  );
}

/** Each offer is made after a deploy, from artifacts that this deploy takes. */
const checkOffers: Rule = (spec) => {
  const all = spec.offers ?? [];
  return [
    ...findDuplicates(all, ({ name }) => name, ['offers'], 'duplicate-offer'),
    ...all.flatMap((offer, index) => [
      ...findWrongMaker(spec, offer, ['offers', index]),
      ...findWrongValue(spec, offer, ['offers', index, 'value']),
      ...findWrongSchema(offer.schema, ['offers', index, 'schema']),
      ...findMismatch(offer, ['offers', index, 'value']),
    ]),
  ];
};

function findWrongMaker(spec: PipelineSpec, offer: OfferSpec, path: Path): Finding[] {
  if (offer.after !== undefined) return findUnknownDeploy(spec, offer.after, [...path, 'after']);
  const deploys = listDeploys(spec);
  if (deploys.length === 1) return [];
  const [message, hint] =
    deploys.length === 0
      ? [
          `no deploy makes the offer ${offer.name}`,
          'add a deploy: an offer is made once a deploy of its pipeline has succeeded',
        ]
      : [
          `the offer ${offer.name} does not say which of several deploys makes it`,
          `add after: ${deploys.join(' or ')}`,
        ];
  return [errorAt(path, 'offer-after', message, hint)];
}

function findWrongValue(spec: PipelineSpec, offer: OfferSpec, path: Path): Finding[] {
  const inputs = spec.actions[findMaker(spec, offer) ?? '']?.inputs ?? [];
  const excess = over(SPEC_LIMITS.offerValue, jsonBytes(offer.value));
  return [
    ...(excess ? [errorAt(path, 'over-limit', excessText(excess), 'store it elsewhere, and offer its address')] : []),
    ...listPlaceholders(offer.value).flatMap((name): Finding[] => {
      const field = parseArtifactField(name);
      if (field === undefined)
        return [
          errorAt(
            path,
            'bad-placeholder',
            `\${${name}} is not a field of an artifact`,
            'write ${artifact.version} or ${artifact.metadata.key}',
          ),
        ];
      if (inputs.includes(field.artifact)) return [];
      const message = `the deploy that makes ${offer.name} has no input ${field.artifact}`;
      return [errorAt(path, 'unknown-artifact', message, suggest(field.artifact, inputs))];
    }),
    ...findSecrets(offer, path),
  ];
}

function findWrongSchema(schema: ValueSchema | undefined, path: Path): Finding[] {
  if (schema === undefined) return [];
  const excess = over(SPEC_LIMITS.offerSchema, jsonBytes(schema));
  if (excess) return [errorAt(path, 'over-limit', excessText(excess), 'describe only the parts that others use')];
  if (schema.type !== 'object') {
    const message = `the schema is for ${schema.type}, but each value is an object`;
    return [errorAt([...path, 'type'], 'offer-schema', message, 'write type: object, with the parts as properties')];
  }
  return listMisplaced(schema).map((part) => {
    const message = `the schema of ${part} has keywords of another type`;
    const hint = 'only an object has properties and required, and only an array has items';
    return errorAt(path, 'misplaced-keyword', message, hint);
  });
}

/** A placeholder is a text, as is the field that replaces it. */
function findMismatch({ name, value, schema }: OfferSpec, path: Path): Finding[] {
  const mismatch = schema && whyMismatch(value, schema);
  if (mismatch === undefined) return [];
  const message = `the value of ${name} does not fit its schema: ${mismatch}`;
  return [errorAt(path, 'offer-schema', message, 'correct the value or the schema')];
}

const SECRET = /password|passwd|secret|token|private-?_?key|credential/i;
/** `secretName` is not the secret itself. */
const NAME_OF_SECRET = /(?:name|path|ref|id|arn)$/i;
/** A private key, or an address with a password. */
const SECRET_TEXT = /-----BEGIN [A-Z ]*PRIVATE KEY-----|^[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:[^\s/@]+@/i;

/** Every reader of a pipeline sees its offers. */
const findSecrets = ({ name, value }: OfferSpec, path: Path): Finding[] =>
  listTextParts(value)
    .filter((part) => !part.text.includes('${') && isSecret(part))
    .map(({ path: at }) => {
      const message = `the offer ${name} contains ${formatPath(at)}, which every reader of the pipeline sees`;
      return warningAt([...path, ...at], 'offer-secret', message, 'offer the name under which a secret store keeps it');
    });

interface TextPart {
  readonly path: Path;
  readonly text: string;
}

function listTextParts(value: unknown, path: Path = []): TextPart[] {
  if (typeof value === 'string') return [{ path, text: value }];
  if (Array.isArray(value)) return value.flatMap((item, index) => listTextParts(item, [...path, index]));
  return isJsonObject(value) ? Object.entries(value).flatMap(([key, part]) => listTextParts(part, [...path, key])) : [];
}

function isSecret({ path, text }: TextPart): boolean {
  const key = String(path.findLast((step) => typeof step === 'string'));
  return SECRET_TEXT.test(text) || (SECRET.test(key) && !NAME_OF_SECRET.test(key));
}

/** Each wish is for an offer of another pipeline, and belongs to actions of this one. */
const checkWishes: Rule = (spec) => {
  const all = spec.wishes ?? [];
  return [
    ...findDuplicates(all, ({ from, offer }) => `${offer} of ${from}`, ['wishes'], 'duplicate-wish'),
    ...all.flatMap((wish, index) => {
      const path = ['wishes', index];
      const own = `${spec.pipeline} would wait for its own offer`;
      return [
        ...(wish.from === spec.pipeline
          ? [errorAt([...path, 'from'], 'wish-for-own-offer', own, 'use needs between its own actions')]
          : []),
        ...findWrongSchema(wish.schema, [...path, 'schema']),
        ...(wish.for ?? []).flatMap((name, at) => findUnwishing(spec, name, [...path, 'for', at])),
      ];
    }),
  ];
};

/** An error if a name is not that of an action that can wait for offers. */
function findUnwishing(spec: PipelineSpec, name: string, path: Path): Finding[] {
  const action = spec.actions[name];
  if (action && canWish(action)) return [];
  const able = Object.keys(spec.actions).filter((other) => spec.actions[other] && canWish(spec.actions[other]));
  const [code, message] = action
    ? ['cannot-wish', `${name} is a ${action.type}, which waits for no offer`]
    : ['unknown-action', `there is no action ${name}`];
  return [errorAt(path, code, message, suggest(action ? '' : name, able))];
}

/** Each placeholder belongs to a wish of the action that contains it. */
const checkPlaceholders: Rule = (spec) =>
  Object.entries(spec.actions).flatMap(([name, action]): Finding[] => {
    const known = (spec.wishes ?? [])
      .filter((wish) => isWishedFor(wish, name, action))
      .map(({ from, offer }) => `${from}.${offer}`);
    const isRollout = action.type === 'deploy' || action.type === 'canary';
    const path = ['actions', name, 'with', ...(isRollout ? ['config'] : [])];
    const parts = listWishedParts(isRollout ? action.with.config : action.with);
    const excess = over(OFFER_LIMITS.parts, parts.length);
    if (excess)
      return [errorAt(path, 'over-limit', excessText(excess), 'use the whole value: ${wishes.pipeline.offer}')];
    return parts.flatMap((part): Finding[] => {
      if ('broken' in part) {
        const message = `\${${part.broken}} names no offer`;
        return [errorAt(path, 'bad-placeholder', message, 'write ${wishes.pipeline.offer.key}')];
      }
      const wished = `${part.from}.${part.offer}`;
      if (known.includes(wished)) return [];
      return [
        errorAt(
          path,
          'unknown-wish',
          `${name} does not wish for ${part.offer} of ${part.from}`,
          suggest(wished, known),
        ),
      ];
    });
  });

/** The argument after it is a program: `sh -c`, `bash -lc`, `node -e`, `perl -e`, `node --eval`. */
const PROGRAM_FOLLOWS = /^(?:-[a-z]*[ce]|--eval|--command)$/i;

/** A value of another team must not choose what runs. */
const checkPrograms: Rule = (spec) =>
  Object.entries(spec.actions).flatMap(([name, action]): Finding[] => {
    const isValue = (text: string): boolean => listWishedParts(text).length > 0;
    if (action.type === 'custom' && isValue(action.with.service))
      return [errorAt(['actions', name, 'with', 'service'], 'wish-as-program', CHOOSES_SERVICE, 'write its name')];
    if (action.type !== 'custom-script') return [];
    const { command } = action.with;
    return command.flatMap((argument, at): Finding[] => {
      const isProgram = at === 0 || PROGRAM_FOLLOWS.test(command[at - 1] ?? '');
      if (!isProgram || !isValue(argument)) return [];
      const message = `a value of an offer would be part of the program that ${name} runs`;
      const hint = 'give it to the program as an argument: [sh, -c, \'use "$1"\', sh, "${wishes.…}"]';
      return [errorAt(['actions', name, 'with', 'command', at], 'wish-as-program', message, hint)];
    });
  });

const CHOOSES_SERVICE = 'a value of an offer would choose the service that runs the action';

/** A release for a change that is over deploys nothing any more, so it must not keep the next one from its turn. */
const checkOrder: Rule = (spec) => {
  const [taken] = listTakenOffers(spec);
  if (taken === undefined || spec.releases.supersede !== 'never') return [];
  const message = `a release with a change of ${taken.offer} of ${taken.from} that is over would keep later ones from their turn for ever`;
  const hint = 'remove supersede: never, or the artifact: a wish alone takes the present offer';
  return [errorAt(['releases', 'supersede'], 'offers-in-order', message, hint)];
};

const checkSize: Rule = ({ offers: offered = [], wishes: wished = [] }) => {
  const excess = over(SPEC_LIMITS.offersTogether, jsonBytes(offered) + jsonBytes(wished));
  return excess ? [errorAt(['offers'], 'over-limit', excessText(excess), 'make several pipelines of it')] : [];
};

export const offerRules: readonly Rule[] = [
  checkOffers,
  checkWishes,
  checkPlaceholders,
  checkPrograms,
  checkOrder,
  checkSize,
];
