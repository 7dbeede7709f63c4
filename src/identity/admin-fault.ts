/**
 * Why an admin call was not done. Admin calls answer faults, not refusals: they are made by people who set things up.
 * The codes are upper case on both doors.
 */
export type AdminFaultCode = 'ALREADY_EXISTS' | 'CONFLICT' | 'FORBIDDEN' | 'INVALID_INPUT' | 'NOT_FOUND';

export class AdminFault extends Error {
  override readonly name = 'AdminFault';
  readonly code: AdminFaultCode;

  constructor(code: AdminFaultCode, message: string) {
    super(message);
    this.code = code;
  }
}
