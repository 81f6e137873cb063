/** The least that a suite asks for, so that a case can exceed it. */
export const MAX_BLOB_BYTES = 16 * 1024 * 1024
