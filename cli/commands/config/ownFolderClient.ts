import { requireProposer } from '../../../client/about';
import { folderTree } from '../../../configerator/compiler/tree';
import { OWN_PROGRAMS } from '../../../configerator/compiler/walls';
import { dependenciesAt, listValues } from '../../../configerator/repository/dependencies';
import { computeDifference } from '../../../configerator/repository/difference';
import type { Draft } from '../../../configerator/repository/fit';
import { lookAtChange, readShownValue, readVersion } from '../../../configerator/repository/views';
import { createDraftFromTree, createDraftFromValues, propose } from '../../../configerator/repository/propose';
import { ConfigRepository, copiesFolder } from '../../../configerator/repository/repository';
import { pathRights } from '../../../domain/access/paths';
import { conveyorError } from '../../../domain/errors';
import {
  readKnownHost,
  readSignatures,
  openConfigStore,
  findAllSubscribers,
} from '../../../configerator/subscriptions';
import { resolveActor } from '../../door';
import type { CommandCall } from '../command';
import type { TrustOptions } from './choice';
import { findBasis } from './basis';
import type { FolderClient } from './folderClient';
import { getRepositorySettings } from './repository';

/** A client that uses git and the configuration of this machine. */
export async function createLocalClient(
  { io, connect }: Pick<CommandCall<unknown>, 'io' | 'connect'>,
  options: TrustOptions,
): Promise<FolderClient> {
  const { registry, settings } = getRepositorySettings(io, options);
  const { name } = settings;
  const repository = await ConfigRepository.open({ ...settings, programs: OWN_PROGRAMS }, copiesFolder(io.env));
  const store = () => openConfigStore(settings, options.trust);
  const draft = async (folder: string, given: string | undefined): Promise<Draft> => {
    const head = await repository.head();
    const basis = await findBasis(folder, { repository: name, given }, (commit) => repository.ancestor(commit, head));
    if (basis === undefined && head !== null) throw conveyorError('config-base-unknown', { folder, ...settings });
    return createDraftFromTree(repository, basis ?? null, folderTree(folder));
  };
  const permittedAuthor = (): string => {
    const author = resolveActor(io, connect);
    requireProposer(registry, { principal: author, door: 'command-line' }, settings);
    return author;
  };
  const proposeDraft = async (drafted: Draft, author: string, message: string) => {
    const [pipelines, rights] = [await io.pathsOfPipelines(connect, name), pathRights(registry, settings, author)];
    return {
      ...(await propose(repository, drafted, { author, message, pipelines, rights, nowMs: io.now() })),
      duplicate: false,
    };
  };
  return {
    name,
    changes: (limit) => repository.changes(limit),
    change: (number) => lookAtChange(repository, number),
    log: (limit) => repository.log(limit),
    value: (path, change) => readShownValue(repository, path, change),
    host: (path, host) => readKnownHost(store(), name, { path, host }, (version) => readVersion(repository, version)),
    signatures: (path) => readSignatures(store(), name, path),
    why: async (path) => {
      const found = await dependenciesAt(repository, await repository.head(), path);
      return { ...found, subscribers: await findAllSubscribers(store(), name, listValues(path, found)) };
    },
    diff: async (folder, base) => computeDifference(repository, await draft(folder, base)),
    propose: async (folder, message, base) => {
      const author = permittedAuthor();
      const drafted = await draft(folder, base);
      if (drafted.problems.length > 0)
        return { problems: drafted.problems.map(({ code, message: text, hint }) => ({ code, message: text, hint })) };
      return { ...(await proposeDraft(drafted, author, message)), basis: drafted.base };
    },
    proposeValues: async (values, message) => {
      const author = permittedAuthor();
      const drafted = await createDraftFromValues(repository, await repository.head(), values);
      return proposeDraft(drafted, author, message);
    },
  };
}
